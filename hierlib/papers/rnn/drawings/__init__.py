"""Drawings of single pages; they do not decide numbers."""
