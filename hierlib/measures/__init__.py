"""What is read off networks: movements, signals, features, and fits of what was read."""
