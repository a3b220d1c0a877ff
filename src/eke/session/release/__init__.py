"""Releasing: many tables at once, with their price, and what would be worth it."""
