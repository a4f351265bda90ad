"""Linear algebra with as many digits as one asks for, where sixteen are not enough.

    with digits(120):
        price = inverse_form(matrix, ones)          # y' M^-1 y

A kernel that is a power series has eigenvalues that fall geometrically, and Gram matrices of two dozen points that no
float64 can invert. Python's decimal numbers have a square root; the arc cosine is here.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal, getcontext, localcontext

HALVINGS = 8  # of the angle before its series: the terms then fall by 4^-8 or more


@contextmanager
def digits(count: int) -> Iterator[None]:
    """Decimal numbers in this block have so many digits."""
    with localcontext() as context:
        context.prec = count
        yield


def arctan(x: Decimal) -> Decimal:
    """arctan x, by halving the angle and then its series."""
    for _ in range(HALVINGS):
        x = x / (1 + (1 + x * x).sqrt())
    square, power, total, k = x * x, x, x, 1
    while abs(power) > abs(total) * Decimal(10) ** -(getcontext().prec + 2) and power:
        power, k = -power * square, k + 2
        total += power / k
    return total * 2**HALVINGS


def pi() -> Decimal:
    """The number pi, by Machin's formula."""
    return 16 * arctan(Decimal(1) / 5) - 4 * arctan(Decimal(1) / 239)


def arccos(z: Decimal) -> Decimal:
    """arccos z for -1 < z <= 1."""
    return 2 * arctan(((1 - z) / (1 + z)).sqrt())


def inverse_form(M: Sequence[Sequence[Decimal]], y: Sequence[Decimal]) -> Decimal:
    """y' M^-1 y for a symmetric positive definite matrix, by elimination; nothing is inverted.

    Raises ValueError where a pivot is not positive: then there are too few digits, or M is not positive definite.
    """
    rows = [[*row, value] for row, value in zip(M, y, strict=True)]
    total = Decimal(0)
    for i, pivot in enumerate(rows):
        if pivot[i] <= 0:
            raise ValueError(f"pivot {i} is {pivot[i]:.3g}: more digits are needed")
        total += pivot[-1] ** 2 / pivot[i]
        for row in rows[i + 1 :]:
            factor = row[i] / pivot[i]
            for j in range(i, len(row)):
                row[j] -= factor * pivot[j]
    return total
