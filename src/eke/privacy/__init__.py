"""Privacy: noise laws, losses, limits."""
