import pytest
import torch

from hierlib.targets.monomials import monomial

X = torch.tensor([[1.0, 2.0], [0.5, -1.0], [-3.0, 0.0], [0.0, 0.0]])
BETA = torch.tensor([2.0, 1.0])


@pytest.mark.parametrize("p", [1, 2, 3, 5])
@pytest.mark.parametrize("alpha", [1.0, -0.5])
def test_a_monomial_is_a_power_of_a_linear_function_times_alpha(p, alpha):
    by_hand = []
    for x in X.tolist():
        product = alpha
        for _ in range(p):
            product *= sum(x_j * beta_j for x_j, beta_j in zip(x, BETA.tolist(), strict=True))
        by_hand.append(product)
    assert monomial(X, BETA, p, alpha).tolist() == pytest.approx(by_hand)


def test_alpha_is_one_when_omitted():
    assert monomial(X, BETA, 2).tolist() == [16.0, 0.0, 36.0, 0.0]
