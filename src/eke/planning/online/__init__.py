"""Online: what to do about one question after the other."""
