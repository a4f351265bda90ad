"""Numbers with many digits: against mpmath."""

from decimal import Decimal

import mpmath
import pytest

from hierlib.theory.decimals import arccos, digits, inverse_form, pi


@pytest.mark.parametrize("z", ["-0.999", "-0.3", "0", "0.5", "0.999999999999", "1"])
def test_arc_cosine(z):
    with digits(70), mpmath.workdps(70):
        assert abs(mpmath.mpf(str(arccos(Decimal(z)))) - mpmath.acos(mpmath.mpf(z))) < mpmath.mpf(10) ** -65
        assert abs(mpmath.mpf(str(pi())) - mpmath.pi) < mpmath.mpf(10) ** -67


def test_the_inverse_of_a_hilbert_matrix_has_whole_numbers():
    with digits(60):
        n = 12
        M = [[Decimal(1) / (i + j + 1) for j in range(n)] for i in range(n)]
        assert abs(inverse_form(M, [Decimal(1)] * n) - n * n) < Decimal("1e-30")  # the sum of all entries is n^2


def test_too_few_digits_are_noticed():
    M = [[Decimal(1), Decimal(1)], [Decimal(1), Decimal(1)]]
    with pytest.raises(ValueError, match="more digits"):
        inverse_form(M, [Decimal(1)] * 2)
