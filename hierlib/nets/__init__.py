"""Learners: the networks of the papers, and how they are initialised."""
