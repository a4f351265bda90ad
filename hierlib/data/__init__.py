"""Inputs and labels: spheres, images, label noise."""
