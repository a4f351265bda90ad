"""Inputs and labels: spheres, cubes and image sets, random and noisy labels, and where image sets come from."""
