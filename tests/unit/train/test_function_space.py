"""Function-space SGD against SGD on the weights of a linear model, which it must follow exactly."""

import torch

from hierlib.streams import normals, signs
from hierlib.train.function_space import online_logistic

N, P = 40, 6
PHI, Y = normals((N, P), 1, "features"), signs((N,), 1, "labels")


def trained(eta):
    w, mistakes = torch.zeros(P, dtype=torch.float64), []
    for x, label in zip(PHI, Y, strict=True):
        margin = label * (x @ w)
        mistakes.append(margin.item() <= 0)
        w = w + eta * label * torch.sigmoid(-margin) * x
    return w, mistakes


def test_it_is_sgd_on_the_weights_for_every_step_at_once():
    etas, new = (0.01, 0.3, 2.0), normals((5, P), 1, "new points")
    found = online_logistic(PHI @ PHI.T, Y, etas)
    elsewhere = online_logistic(PHI @ PHI.T, Y, etas, rows=new @ PHI.T)
    for i, eta in enumerate(etas):
        w, mistakes = trained(eta)
        assert found.mistakes[i].tolist() == mistakes
        assert torch.allclose(found.values[i], PHI @ w) and torch.allclose(elsewhere.values[i], new @ w)


def test_it_starts_where_it_is_told_to():
    found = online_logistic(PHI @ PHI.T, Y, (1e-9,), start=3 * Y)
    assert not found.mistakes.any() and torch.allclose(found.values[0], 3 * Y, atol=1e-6)


def test_a_run_that_diverged_is_wrong_everywhere():
    """The step nan stands for it: all outputs are nan after the first, which is zero."""
    found = online_logistic(PHI @ PHI.T, Y, (0.3, float("nan")))
    assert found.values[1].isnan().all() and found.mistakes[1].all()
    assert found.mistakes[0].tolist() == trained(0.3)[1]


def test_random_labels_are_a_coin_and_a_rule_is_learned():
    X = normals((400, P), 2, "many")
    K = X @ X.T
    rule = online_logistic(K, X[:, 0].sign(), (1.0,)).mistakes[0]
    coin = online_logistic(K, signs((400,), 2, "coin"), (1.0,)).mistakes[0]
    assert rule[-200:].double().mean() < 0.06 and 0.4 < coin.double().mean() < 0.6
