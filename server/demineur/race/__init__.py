"""race."""
