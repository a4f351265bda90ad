"""What the direction of a token costs when norms differ between samples (Wang et al. 2021, Lemmas 21, 22, Theorem 4).

Two constructions inside the hypotheses, both ours, both reduced to a kernel between norms in which the constant function 1
is to be had; its price 1' k^-1 1 is one over the largest weight that the lemma could have. With decimal numbers, because the
eigenvalues of such kernels fall geometrically.

    Lemma 21   d = 1, tokens +-r, the same Q for all samples, the teacher sign(x):
               k(r, r') = [k0((mu + s2 r r') / Q) - k0((mu - s2 r r') / Q)] / 2
    Lemma 22, Theorem 4   first token rho (s tau e_1 + sqrt(1 - tau^2) v), s = +-1, the v of all samples orthonormal, later
               tokens the same in all samples, the teacher s, which is <e_1, x> / (tau |x|); many v for each rho and s leave
               k(rho, rho') = [G(tau^2) - G(-tau^2)] / 2, G(t) the gate or the tangent kernel at <x, x'> = rho rho' t
"""

from collections.abc import Callable, Sequence
from decimal import Decimal

from hierlib.theory.decimals import arccos, digits, inverse_form, pi

Kernel = Callable[[Decimal, Decimal], Decimal]


def spread(count: int, low: float, high: float) -> list[Decimal]:
    """So many norms, evenly spaced from low to high; one alone is in the middle."""
    ends = Decimal(str(low)), Decimal(str(high))
    if count == 1:
        return [(ends[0] + ends[1]) / 2]
    return [ends[0] + (ends[1] - ends[0]) * i / (count - 1) for i in range(count)]


def price_of_one(kernel: Kernel, norms: Sequence[Decimal]) -> Decimal:
    """1' k^-1 1 between these norms: the squared length of the shortest function that is one at all of them."""
    rows = [[Decimal(0)] * len(norms) for _ in norms]
    for i, a in enumerate(norms):
        for j, b in enumerate(norms[: i + 1]):
            rows[i][j] = rows[j][i] = kernel(a, b)
    return inverse_form(rows, [Decimal(1)] * len(norms))


def sign_price(norms: Sequence[Decimal], L: int, sum_of_squares: Decimal, mu: Decimal, precision: int = 120) -> float:
    """Lemma 21, k = 1, d = 1: the price of sign(x) at tokens +-norms, s2 = L^-3, Q = 1 + s2 sum_of_squares."""
    with digits(precision):
        s2, number_pi = Decimal(L) ** -3, pi()
        Q = 1 + s2 * sum_of_squares

        def kernel(a: Decimal, b: Decimal) -> Decimal:
            gap = s2 * a * b
            return (arccos((mu - gap) / Q) - arccos((mu + gap) / Q)) / (2 * number_pi)

        return float(price_of_one(kernel, norms))


def direction_price(
    norms: Sequence[Decimal], L: int, tau: Decimal, whole: bool = True, later: float = 1.0, precision: int = 120
) -> float:
    """The price of the direction of the first token, s2 = L^-3, later tokens of norm `later` and the same in all samples.

    In the tangent kernel H of infinite width, or, if not `whole`, in its first gate k0(z^1) alone.
    """
    with digits(precision):
        s2, square, number_pi = Decimal(L) ** -3, Decimal(str(later)) ** 2, pi()

        def at(a: Decimal, b: Decimal, t: Decimal) -> Decimal:
            qa, qb = 1 + s2 * a * a, 1 + s2 * b * b
            carried, T = 1 + s2 * a * b * t, Decimal(0)
            before = Decimal(1)
            for step in range(L):
                if step:
                    qa, qb, before = qa + s2 * square, qb + s2 * square, carried
                    carried = carried + s2 * square
                Q = (qa * qb).sqrt()
                z = carried / Q
                angle = arccos(z)
                gate = 1 - angle / number_pi
                if not whole:
                    return gate
                T = gate * (T + before / 2)
                carried = Q * ((1 - z * z).sqrt() / number_pi + z * gate)
            return T

        def kernel(a: Decimal, b: Decimal) -> Decimal:
            return (at(a, b, tau * tau) - at(a, b, -tau * tau)) / 2

        return float(price_of_one(kernel, norms))
