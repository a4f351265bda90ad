"""Predictions, bounds, complexity measures and fits: what the theorems say, computed without training."""
