"""Allen-Zhu, Li 2019: what a three-layer residual network learns and kernels cannot."""
