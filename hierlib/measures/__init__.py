"""What is read off networks: how far they have moved, how much of a signal they hold, and fits of such numbers."""
