r"""A distribution on which training the first block first must fail: one coordinate is a noisy copy of the composite signal.

Inputs are x = (u_1, ..., u_{d-1}, v)/sqrt(d) with u_j uniform on [-sqrt 3, sqrt 3], P = u_1 ... u_k, and

    v = rho P + sqrt(1 - rho^2) xi,   xi ~ N(0, 1),     H_r = (u_r + alpha P) / sqrt(k),   r = 1, ..., k,

which is F + alpha G(F) with F_r = u_r/sqrt(k) and G the product (the target of Theorem 2 in Allen-Zhu and Li 2019, on
another distribution). All of u_j, P and v have mean zero and variance one. P is uncorrelated with every u_j, so the best
linear predictor of H_r is (u_r + alpha rho v)/sqrt(k). A second block that sees nothing but these k numbers z_r has k
equations for the k + 1 unknowns u_1, ..., u_k and v; it cannot tell them apart, however it is trained.
"""

import torch
from torch import Tensor

from hierlib.streams import stream

EDGE = 3**0.5


def noisy_copy(n: int, d: int, k: int, alpha: float, rho: float, seed: int, name: str) -> tuple[Tensor, Tensor]:
    """n inputs (n, d) and their labels H (n, k)."""
    source = stream(seed, "noisy copy", name, n, d)
    u = (torch.rand(n, d - 1, generator=source, dtype=torch.float64) * 2 - 1) * EDGE
    xi = torch.randn(n, generator=source, dtype=torch.float64)
    product = u[:, :k].prod(1)
    v = rho * product + (1 - rho**2) ** 0.5 * xi
    return torch.cat([u, v[:, None]], 1) / d**0.5, (u[:, :k] + alpha * product[:, None]) / k**0.5


def floor(alpha: float, rho: float, k: int, seed: int, n: int = 2000, grid: int = 801) -> float:
    """E|H - E[H | z]|^2 for z_r = u_r + alpha rho v: no function of the best linear first block has a smaller error.

    Given z only v is unknown, u_r = z_r - alpha rho v. Its density is that of (u, v), as the change of variables has
    determinant one: a Gaussian in v - rho P(u), cut off where some |u_r| is above sqrt 3. Means over v are sums over a grid.
    For alpha -> 0 the product becomes known and alpha rho v does not: the floor is alpha^2 rho^2 (1 - rho^2).
    """
    source, noise = stream(seed, "floor", n), 1 - rho**2
    u = (torch.rand(n, k, generator=source, dtype=torch.float64) * 2 - 1) * EDGE
    v = rho * u.prod(1) + noise**0.5 * torch.randn(n, generator=source, dtype=torch.float64)
    z = u + alpha * rho * v[:, None]
    values = torch.linspace(-9 * rho - 5, 9 * rho + 5, grid, dtype=torch.float64)  # |P| is at most 9 for k = 4
    total = 0.0
    for rows in z.split(500):
        possible = rows[:, None] - alpha * rho * values[:, None]  # (rows, grid, k)
        product = possible.prod(2)
        inside = (possible.abs() <= EDGE).all(2)
        weight = inside * torch.exp(-((values - rho * product) ** 2) / (2 * noise))
        weight = (weight / weight.sum(1, keepdim=True))[..., None]
        labels = (possible + alpha * product[..., None]) / k**0.5
        mean = (weight * labels).sum(1, keepdim=True)
        total += (weight * (labels - mean).square()).sum().item()
    return total / n
