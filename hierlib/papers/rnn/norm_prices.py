"""What the direction of a token costs when norms differ between samples (Wang et al. 2021, Lemmas 21, 22, Theorem 4).

Two constructions inside the hypotheses, both ours, both reduced to a kernel between norms in which the constant function 1
is to be had; its price 1' k^-1 1 is one over the largest weight that the lemma could have. With many digits, because the
eigenvalues of such kernels fall geometrically.

    Lemma 21   d = 1, tokens +-r, the same Q for all samples, the teacher sign(x):
               k(r, r') = [k0((mu + s2 r r') / Q) - k0((mu - s2 r r') / Q)] / 2
    Lemma 22, Theorem 4   first token rho (s tau e_1 + sqrt(1 - tau^2) v), s = +-1, the v of all samples orthonormal, later
               tokens the same in all samples, the teacher s, which is <e_1, x> / (tau |x|); many v for each rho and s leave
               k(rho, rho') = [G(tau^2) - G(-tau^2)] / 2, G(t) the gate or the tangent kernel at <x, x'> = rho rho' t
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import mpmath as mp
from mpmath import mpf

Point = TypeVar("Point")


def spread(count: int, low: float, high: float) -> list[float]:
    """So many norms, evenly spaced from low to high; one alone is in the middle."""
    if count == 1:
        return [(low + high) / 2]
    return [low + (high - low) * i / (count - 1) for i in range(count)]


def price_of_one(kernel: Callable[[Point, Point], mpf], points: Sequence[Point]) -> mpf:
    """1' k^-1 1 between these points: the squared length of the shortest function that is one at all of them.

    Raises ValueError where k is not positive definite with the digits there are.
    """
    k = mp.matrix(len(points), len(points))
    for i, a in enumerate(points):
        for j, b in enumerate(points[: i + 1]):
            k[i, j] = k[j, i] = kernel(a, b)
    return mp.fsum(mp.cholesky_solve(k, mp.ones(len(points), 1)))


def sign_price(norms: Sequence[float], L: int, sum_of_squares: float, mu: float, digits: int = 120) -> float:
    """Lemma 21, k = 1, d = 1: the price of sign(x) at tokens +-norms, s2 = L^-3, Q = 1 + s2 sum_of_squares."""
    with mp.workdps(digits):
        s2 = mpf(L) ** -3
        Q = 1 + s2 * sum_of_squares

        def kernel(a: float, b: float) -> mpf:
            gap = s2 * a * b
            return (mp.acos((mu - gap) / Q) - mp.acos((mu + gap) / Q)) / (2 * mp.pi)

        return float(price_of_one(kernel, norms))


def direction_price(norms: Sequence[float], L: int, tau: float, whole: bool = True, digits: int = 120) -> float:
    """The price of the direction of the first token, s2 = L^-3, later tokens of norm one and the same in all samples.

    In the tangent kernel H of infinite width, or, if not `whole`, in its first gate k0(z^1) alone.
    """
    with mp.workdps(digits):
        s2, t = mpf(L) ** -3, mpf(tau) ** 2

        def at(a: float, b: float, t: mpf) -> mpf:
            qa, qb, inner = 1 + s2 * a * a, 1 + s2 * b * b, 1 + s2 * a * b * t
            K, T, gate = mpf(1), mpf(0), mpf(0)
            for _ in range(L if whole else 1):
                Q = mp.sqrt(qa * qb)
                z = inner / Q
                gate = 1 - mp.acos(z) / mp.pi
                T = gate * (T + K / 2)
                K = Q * (mp.sqrt(1 - z * z) / mp.pi + z * gate)
                qa, qb, inner = qa + s2, qb + s2, K + s2
            return T if whole else gate

        return float(price_of_one(lambda a, b: (at(a, b, t) - at(a, b, -t)) / 2, norms))
