"""Training rules."""
