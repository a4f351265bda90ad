"""The ledger of a run against autograd, and the quadratic form against random vectors."""

import pytest
import torch

from hierlib.data.cubes import hypercube
from hierlib.nets.residual import Residual, outputs, residual
from hierlib.papers.resnet_kernels.regret import book_steps, least_eigenvalue
from hierlib.streams import normals
from hierlib.train.one_pass import side_by_side

m, d, k, steps = 30, 5, 2, 12
starts = [residual(m, d, k, i, m**-0.125, 2.0) for i in (1, 2)]
X, Y = hypercube(2 * steps, d, 2).reshape(2, steps, d) / d**0.5, normals((2, steps, k), 3, "labels")
stars_w, stars_v = normals((2, 3, m, d + 1), 4, "W*"), normals((2, 3, m, k + 1), 4, "V*")
eta_w, eta_v = torch.tensor([0.1, 0.02]).double(), torch.tensor([0.05, 0.2]).double()
ledger = book_steps(side_by_side(starts), X, Y, eta_w, eta_v, stars_w, stars_v)
xi = ledger.xi(Y)


@pytest.mark.parametrize("run", [0, 1])
def test_every_entry_agrees_with_autograd(run):
    start = starts[run]
    W, V = start.W, start.V
    for t in range(steps):
        W, V = W.detach().requires_grad_(), V.detach().requires_grad_()
        out = outputs(Residual(start.A, W, V), X[run, t : t + 1])[0]
        grad_W, grad_V = torch.autograd.grad((Y[run, t] - out).square().sum() / 2, (W, V))
        torch.testing.assert_close(ledger.out[run, t], out.detach())
        torch.testing.assert_close(ledger.grad_w[run, t], grad_W.square().sum())
        torch.testing.assert_close(ledger.grad_v[run, t], grad_V.square().sum())
        off_w, off_v = W.detach() - start.W - stars_w[run], V.detach() - start.V - stars_v[run]
        torch.testing.assert_close(xi[run, t], (grad_W * off_w).sum((1, 2)) + (grad_V * off_v).sum((1, 2)))
        torch.testing.assert_close(ledger.distance_w[run, t], off_w.square().sum((1, 2)))
        torch.testing.assert_close(ledger.distance_v[run, t], off_v.square().sum((1, 2)))
        W, V = W.detach() - eta_w[run] * grad_W, V.detach() - eta_v[run] * grad_V
    torch.testing.assert_close(ledger.end.W[run], W)
    torch.testing.assert_close(ledger.end.V[run], V)


def test_the_form_is_nonnegative_exactly_when_its_eigenvalue_is():
    a, e, n = normals((3, 4000, k), 5, "vectors")
    a *= 0.3

    def least(left, err, noise):
        form = ((a + n) * (a + e)).sum(1) - left * a.square().sum(1) + err * e.square().sum(1) + noise * n.square().sum(1)
        return form.min().item()

    assert least_eigenvalue(0.5, 2, 2) > 0 and least(0.5, 2, 2) > 0
    assert least_eigenvalue(0.5, 0.2, 0.2) < 0 and least(0.5, 0.2, 0.2) < 0
