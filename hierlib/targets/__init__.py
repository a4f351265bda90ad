"""Concept classes: the functions that are to be learned."""
