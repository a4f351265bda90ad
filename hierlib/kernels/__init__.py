"""Kernels of infinitely wide and of finite networks."""
