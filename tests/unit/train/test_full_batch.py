import pytest
import torch

from hierlib.data.labels import random_signs
from hierlib.data.spheres import unit_sphere
from hierlib.nets.two_layer import TwoLayer, active, flipped, outputs, two_layer
from hierlib.train import full_batch
from hierlib.train.full_batch import Trajectory, cheaper_form, gradient_descent

FORMS = ["weights", "preactivations"]
N, D, M, ETA = 12, 5, 30, 0.2
X, y = unit_sphere(N, D, seed=0), random_signs(N, seed=0)


def with_signs(net: TwoLayer, sign: float) -> TwoLayer:
    return TwoLayer(net.W, torch.full_like(net.a, sign))


ORDINARY = two_layer(M, D, 0.5, seed=0)
NETS = {
    "ordinary": ORDINARY,
    "paired": two_layer(M, D, 0.5, seed=0, paired=True),
    "all signs plus": with_signs(ORDINARY, 1.0),
    "all signs minus": with_signs(ORDINARY, -1.0),
    "one neuron": two_layer(1, D, 0.5, seed=3),
}


def by_autograd(net: TwoLayer, X: torch.Tensor, y: torch.Tensor, eta: float, steps: int):
    """The plain loop: outputs at every step and the final weights."""
    W, seen = net.W.clone().requires_grad_(), []
    for k in range(steps + 1):
        u = (torch.relu(X @ W.T) * net.a).sum(1) / len(net.a) ** 0.5
        seen.append(u.detach())
        if k < steps:
            W.grad = None
            (0.5 * ((y - u) ** 2).sum()).backward()
            with torch.no_grad():
                W -= eta * W.grad
    return torch.stack(seen), W.detach()


def exactly(net: TwoLayer, X: torch.Tensor, y: torch.Tensor, steps: int, form="auto", eta: float = ETA) -> Trajectory:
    return gradient_descent(net, X, y, eta, steps, form, dtype=torch.float64)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NETS)
@pytest.mark.parametrize("n", [N, 1])
@pytest.mark.parametrize("steps", [0, 1, 50])
def test_training_is_autograd_descent_on_the_hidden_layer(form, name, n, steps):
    net = NETS[name]
    run = exactly(net, X[:n], y[:n], steps, form)
    seen, final = by_autograd(net, X[:n], y[:n], ETA, steps)
    assert run.outputs.shape == (steps + 1, n)
    assert torch.allclose(run.outputs, seen, atol=1e-11)
    assert torch.allclose(run.net.W, final, atol=1e-11)
    assert torch.equal(run.net.a, net.a)


@pytest.mark.parametrize("form", FORMS)
def test_descent_has_no_memory(form):
    whole = exactly(ORDINARY, X, y, 30, form)
    first = exactly(ORDINARY, X, y, 10, form)
    second = exactly(first.net, X, y, 20, form)
    assert torch.allclose(torch.cat([first.outputs, second.outputs[1:]]), whole.outputs, atol=1e-12)
    assert torch.allclose(second.net.W, whole.net.W, atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NETS)
def test_chunks_of_neurons_change_nothing(form, name, monkeypatch):
    whole = exactly(NETS[name], X, y, 20, form)
    monkeypatch.setattr(full_batch, "ENTRIES", 0)
    monkeypatch.setattr(full_batch, "NEURONS", 7)
    cut = exactly(NETS[name], X, y, 20, form)
    assert torch.allclose(cut.outputs, whole.outputs, atol=1e-12)
    assert torch.allclose(cut.net.W, whole.net.W, atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_a_small_movement_of_large_weights_keeps_its_digits_in_float32(form):
    heavy = two_layer(400, D, 100.0, seed=0, paired=True)
    exact, rounded = (gradient_descent(heavy, X, y, 0.05, 200, form, dtype) for dtype in (torch.float64, torch.float32))
    moved = (exact.net.W - heavy.W).norm()
    assert (rounded.net.W - exact.net.W).norm() < 1e-4 * moved


@pytest.mark.parametrize("name", NETS)
def test_the_two_forms_agree(name):
    one, other = (exactly(NETS[name], X, y, 200, form) for form in FORMS)
    assert (one.outputs - other.outputs).abs().max() < 1e-10
    assert torch.equal(active(one.net, X), active(other.net, X))
    assert torch.allclose(one.net.W, other.net.W, atol=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_float32_stays_close_to_float64(form):
    net, many, labels = two_layer(2000, 10, 1.0, seed=1), unit_sphere(30, 10, seed=1), random_signs(30, seed=1)
    rounded = gradient_descent(net, many, labels, 0.1, 1000, form)
    assert rounded.outputs.dtype == torch.float64
    assert (rounded.outputs - exactly(net, many, labels, 1000, form, eta=0.1).outputs).abs().max() < 1e-4


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("factor", "rounding"), [(4.0, 0.0), (3.0, 1e-12)])
def test_scaling_weights_and_labels_scales_every_output(form, factor, rounding):
    # A ReLU network is homogeneous; a power of two changes no rounding, so there the equality is exact.
    scaled = exactly(TwoLayer(factor * ORDINARY.W, ORDINARY.a), X, factor * y, 50, form)
    assert (scaled.outputs - factor * exactly(ORDINARY, X, y, 50, form).outputs).abs().max() <= rounding


@pytest.mark.parametrize("form", FORMS)
def test_the_loss_is_a_sum_so_that_doubling_the_data_doubles_the_step(form):
    doubled = exactly(ORDINARY, torch.cat([X, X]), torch.cat([y, y]), 20, form, eta=ETA)
    once = exactly(ORDINARY, X, y, 20, form, eta=2 * ETA)
    assert torch.allclose(doubled.outputs, torch.cat([once.outputs, once.outputs], dim=1), atol=1e-12)


def test_the_reported_loss_and_residuals_are_those_of_the_outputs():
    run = Trajectory(torch.tensor([[1.0, 2.0], [0.0, 4.0]]), ORDINARY)
    labels = torch.tensor([1.0, 4.0])
    assert run.residuals(labels).tolist() == [[0.0, 2.0], [1.0, 0.0]]
    assert run.loss(labels).tolist() == [2.0, 0.5]


@pytest.mark.parametrize("form", FORMS)
def test_training_fits_the_labels(form):
    loss = exactly(two_layer(500, D, 1.0, seed=0), X, y, 2000, form).loss(y)
    assert loss[-1] < 1e-2 * loss[0]


def test_the_first_output_is_that_of_the_network():
    assert torch.allclose(exactly(ORDINARY, X, y, 0).outputs[0], outputs(ORDINARY, X), atol=1e-14)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NETS)
def test_flipped_is_the_share_of_activations_that_changed(form, name):
    net = NETS[name]
    final = by_autograd(net, X, y, ETA, 50)[1]
    changed = sum(
        (before @ x >= 0).item() != (after @ x >= 0).item() for before, after in zip(net.W, final, strict=True) for x in X
    )
    assert changed > 0
    assert flipped(net, exactly(net, X, y, 50, form).net, X) == pytest.approx(changed / (N * len(net.a)))


def test_nothing_flips_without_a_step():
    assert flipped(ORDINARY, exactly(ORDINARY, X, y, 0).net, X) == 0


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_neuron_that_sits_exactly_at_zero_counts_as_active(form, sign):
    # The paper's 1{<w, x> >= 0}; autograd would take 0 there and never leave.
    one, label = torch.tensor([[1.0, 0.0]]).double(), torch.tensor([sign]).double()
    asleep = TwoLayer(torch.zeros(4, 2).double(), torch.full((4,), sign).double())
    run = exactly(asleep, one, label, 1, form)
    assert active(asleep, one).all()
    assert run.outputs[:, 0].tolist() == pytest.approx([0.0, ETA * sign])


@pytest.mark.parametrize(("n", "d"), [(5, 100), (199, 100), (201, 100), (500, 100)])
def test_the_cheaper_form_needs_fewer_operations(n, d):
    operations = {"preactivations": 2 * n * n, "weights": 4 * n * d}  # per neuron and step
    assert cheaper_form(n, d) == min(operations, key=operations.get)


@pytest.mark.parametrize(("n", "chosen", "other"), [(N, *FORMS), (D, *reversed(FORMS))])
def test_auto_takes_the_cheaper_form(n, chosen, other):
    run, same, different = (gradient_descent(ORDINARY, X[:n], y[:n], ETA, 50, form) for form in ("auto", chosen, other))
    assert cheaper_form(n, D) == chosen
    assert torch.equal(run.outputs, same.outputs)
    assert not torch.equal(run.outputs, different.outputs)  # in float32 the forms differ in their last digits


@pytest.mark.parametrize("form", FORMS)
def test_network_and_data_are_left_alone(form):
    copies = [tensor.clone() for tensor in (*ORDINARY, X, y)]
    exactly(ORDINARY, X, y, 5, form)
    assert all(torch.equal(now, copy) for now, copy in zip((*ORDINARY, X, y), copies, strict=True))


@pytest.mark.slow
def test_one_step_at_the_size_of_the_paper_on_cifar():
    # Appendix A of Arora et al. 2019: 10 000 images of 3072 pixels, 10 000 neurons. Seen through twenty neurons, whose
    # gradient is formed by hand, and through outputs on fifty samples.
    n, d, m, eta = 10_000, 3072, 10_000, 1e-3
    images = unit_sphere(n, d, seed=0, dtype=torch.float32)
    labels = random_signs(n, seed=0).float()
    drawn = two_layer(m, d, 0.01, seed=0)
    net = TwoLayer(drawn.W.float(), drawn.a.float())
    run = gradient_descent(net, images, labels, eta, 1)
    assert torch.allclose(run.outputs[0, :50], outputs(net, images[:50]).double(), atol=1e-5)
    assert torch.allclose(run.outputs[1, :50], outputs(run.net, images[:50]).double(), atol=1e-4)
    few = slice(0, m, m // 20)
    on = (images @ net.W[few].T >= 0).float()
    pull = (run.outputs[0].float() - labels)[:, None] * on
    expected = -eta * net.a[few, None] / m**0.5 * (pull.T @ images)
    moved = run.net.W[few] - net.W[few]
    assert (moved - expected).norm() < 1e-4 * expected.norm()
