"""Formulas that two or more papers use, computed without a network that is trained: predictions, bounds, constructions."""
