"""The two concept classes of Allen-Zhu and Li 2019: H(x) = F(x) + alpha G(F(x)) with smooth F and G.

Concept 1 (section 5) takes sums of smooth functions of one linear form, for inputs and F(x) of norm one. Concept 2
(appendix B) is larger: every summand is a smooth function of a normalised linear form, times a second linear form. A
smooth function is a row of Taylor coefficients c_0, ..., c_q; the sums have p terms and k outputs.
"""

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import normalize, pad

from hierlib.nets.affine import with_one
from hierlib.streams import normals, stream
from hierlib.targets.powers import series_slope, series_value


class Concept1(NamedTuple):
    """F_r(x) = sum_i a_ri phi_ri(<w_ri, x>) (Allen-Zhu and Li 2019, eq. 5.2), with |w_ri| = 1/sqrt(2), a_ri in [-1, 1].

    a (k, p), Taylor coefficients of phi (k, p, q + 1), w (k, p, d).
    """

    a: Tensor
    coefficients: Tensor
    w: Tensor

    def __call__(self, X: Tensor) -> Tensor:
        """F at the rows of X: (n, d) -> (n, k)."""
        return (self.a * series_value(self.coefficients, linear_forms(X, self.w))).sum(-1)

    def jacobian(self, X: Tensor) -> Tensor:
        """dF_r/dx at the rows of X: (n, d) -> (n, k, d)."""
        slope = series_slope(self.coefficients, linear_forms(X, self.w))
        return torch.einsum("nrp,rpd->nrd", self.a * slope, self.w)


class Concept2(NamedTuple):
    """F_r(x) = sum_i a_ri phi_ri(<w1_ri, (x, 1)> / |(x, 1)|) <w2_ri, (x, 1)> (Allen-Zhu and Li 2019, Definition B.1).

    a (k, p) in [-1, 1], Taylor coefficients of phi (k, p, q + 1) that vanish for even degrees from two on, unit vectors
    w1, w2 (k, p, d + 1). The paper prints the same vectors for all outputs r, which is too few for its Lemma B.2.
    """

    a: Tensor
    coefficients: Tensor
    w1: Tensor
    w2: Tensor

    def __call__(self, X: Tensor) -> Tensor:
        """F at the rows of X: (n, d) -> (n, k)."""
        phi, _, factor, _ = self._parts(X)
        return (self.a * phi * factor).sum(-1)

    def jacobian(self, X: Tensor, printed: bool = False) -> Tensor:
        """dF_r/dx at the rows of X: (n, d) -> (n, k, d), from the derivative of one term (proof of Fact B.3).

        With y = (x, 1) and z = <w1, y>/|y|, and w1, w2 cut to their first d coordinates where they stand alone,

            phi(z) w2 + <w2, y> phi'(z) (w1 |y| - <w1, y> x/|y|) / |y|^2 .

        `printed` has x/|y|^2 in place of x/|y|, as in the paper; that is not the derivative.
        """
        phi, slope, factor, z = self._parts(X)
        size = with_one(X).norm(dim=1)[:, None, None]
        radial = (self.a * factor * slope * z / size ** (3 if printed else 2)).sum(-1)  # <w1, y> is z |y|
        along_w1 = torch.einsum("nrp,rpd->nrd", self.a * factor * slope / size, self.w1[..., :-1])
        along_w2 = torch.einsum("nrp,rpd->nrd", self.a * phi, self.w2[..., :-1])
        return along_w2 + along_w1 - radial[..., None] * X[:, None, :]

    def outside(self) -> float:
        """By how much the parameters miss Definition B.1: |a| beyond 1, norms that are not 1, even powers from two on."""
        norms = (torch.stack([self.w1, self.w2]).norm(dim=-1) - 1).abs().max().item()
        even = self.coefficients[..., 2::2].abs()
        return max(norms, self.a.abs().max().item() - 1, even.max().item() if even.numel() else 0.0)

    def _parts(self, X: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """phi(z), phi'(z), <w2, (x, 1)> and z, all (n, k, p)."""
        Y = with_one(X)
        z = linear_forms(normalize(Y), self.w1)
        phi, slope = series_value(self.coefficients, z), series_slope(self.coefficients, z)
        return phi, slope, linear_forms(Y, self.w2), z


class Composite(NamedTuple):
    """H(x) = F(x) + alpha G(F(x)) (Allen-Zhu and Li 2019, eqs. 5.1 and B.1); F and G of the same concept."""

    F: Any
    G: Any
    alpha: float

    def __call__(self, X: Tensor) -> Tensor:
        """H at the rows of X: (n, d) -> (n, k)."""
        base = self.F(X)
        return base + self.alpha * self.G(base)

    def to_concept2(self) -> "Composite":
        """The target of Concept 2 that agrees with this one of Concept 1 where |x| = |F(x)| = 1 (Lemma B.2)."""
        return Composite(to_concept2(self.F), to_concept2(self.G), self.alpha)


def linear_forms(X: Tensor, w: Tensor) -> Tensor:
    """<w_ri, x> for the rows of X (n, d) and w (k, p, d) -> (n, k, p)."""
    return torch.einsum("nd,rpd->nrp", X, w)


def split(coefficients: Tensor) -> tuple[Tensor, Tensor]:
    """phi = phi_plus + z phi_minus, both with constant and odd terms only (proof of Lemma B.2): (..., q + 1), twice.

    phi_plus keeps c_0, c_1, c_3, ...; phi_minus takes c_2, c_4, ... one degree down, to z, z^3, ...
    """
    degree = torch.arange(coefficients.shape[-1])
    even = (degree % 2 == 0) & (degree >= 2)
    minus = torch.roll(coefficients * even, -1, dims=-1)
    return coefficients * ~even, minus


def to_concept2(f: Concept1) -> Concept2:
    """A function of Concept 2 with 2p terms that agrees with f at all inputs of norm one (Lemma B.2).

    With the unit vectors u = sqrt(2) w: phi_plus(<u, x>/|(x, 1)|) times 1, plus phi_minus of the same times <u, x>/sqrt(2).
    """
    plus, minus = split(f.coefficients)
    u = pad(math.sqrt(2) * f.w, (0, 1))
    one = torch.zeros_like(u)
    one[..., -1] = 1.0
    return Concept2(
        torch.cat([f.a, f.a / math.sqrt(2)], dim=1),
        torch.cat([plus, minus], dim=1),
        torch.cat([u, u], dim=1),
        torch.cat([one, u], dim=1),
    )


def random_concept1(d: int, k: int, p: int, degree: int, seed: int, name: str = "concept 1") -> Concept1:
    """Random polynomials of that degree with standard normal coefficients, random directions, uniform a, in float64."""
    a = 2 * torch.rand(k, p, generator=stream(seed, name, "a", k, p), dtype=torch.float64) - 1
    return Concept1(a, normals((k, p, degree + 1), seed, name, "coefficients"), _unit((k, p, d), seed, name, "w") / 2**0.5)


def random_concept2(d: int, k: int, p: int, degree: int, seed: int, name: str = "concept 2") -> Concept2:
    """Like `random_concept1`, with constant and odd coefficients only and two unit vectors per term."""
    a = 2 * torch.rand(k, p, generator=stream(seed, name, "a", k, p), dtype=torch.float64) - 1
    coefficients, _ = split(normals((k, p, degree + 1), seed, name, "coefficients"))
    w1, w2 = (_unit((k, p, d + 1), seed, name, which) for which in ("w1", "w2"))
    return Concept2(a, coefficients, w1, w2)


def winding(d: int, k: int, frequency: float, seed: int) -> Concept1:
    """(cos <c w_j, x>, sin <c w_j, x>) for k/2 directions w_j, over sqrt(k/2): a Concept 1 function with |F(x)| = 1.

    The conditions |x| = 1 and |F(x)| = 1 of Concept 1 are hard to meet together; this meets the second one everywhere,
    with p = 1. The Taylor series are cut at degree 40, which is exact to rounding for c up to about 10.
    """
    if k % 2:
        raise ValueError(f"cosines and sines come in pairs, so k must be even, got {k}")
    j = torch.arange(41, dtype=torch.float64)
    size = torch.exp(j * math.log(frequency) - torch.lgamma(j + 1)) / (k / 2) ** 0.5
    sign = 1 - 2 * (torch.div(j, 2, rounding_mode="floor") % 2)
    series = torch.stack([size * sign * (j % 2 == 0), size * sign * (j % 2 == 1)])
    w = _unit((k // 2, 1, d), seed, "winding", "w").repeat_interleave(2, dim=0) / 2**0.5
    return Concept1(torch.ones(k, 1, dtype=torch.float64), series.repeat(k // 2, 1)[:, None], w)


def _unit(shape: tuple[int, ...], seed: int, *names: str) -> Tensor:
    return normalize(normals(shape, seed, *names), dim=-1)
