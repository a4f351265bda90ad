"""The plain loop takes the steps of a loop written by hand, and an interruption leaves no trace."""

import pytest
import torch
from torch import nn
from torch.optim import SGD, Adam
from torch.optim.lr_scheduler import CosineAnnealingLR, LambdaLR, MultiStepLR

from hierlib.papers.resnet_kernels.methods import METHODS
from hierlib.streams import stream
from hierlib.train import checkpoint
from hierlib.train.epochs import Shuffled, classification, half_squares, train_epochs
from hierlib.train.grid import Plan, Schedule, Trial, train_grid

EPOCHS, SEED, N, BATCH = 5, 3, 22, 8  # the last mini-batch has six samples
draws = stream(0, "samples")
X, Y = torch.randn(N, 1, 6, 6, generator=draws), torch.randint(3, (N,), generator=draws)
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here"))]


@pytest.fixture(autouse=True)
def no_chance_on_a_gpu(monkeypatch):
    monkeypatch.setattr(torch.backends.cudnn, "deterministic", True)


def make_model(device: str = "cpu") -> nn.Module:
    """Convolution, batch normalisation and dropout: weights, buffers and draws."""
    with torch.random.fork_rng([]):
        torch.manual_seed(0)
        layers = [nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Dropout(0.3), nn.Linear(64, 3)]
        return nn.Sequential(*layers).to(device)


def sgd(model: nn.Module):
    optimiser = SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-3)
    return optimiser, MultiStepLR(optimiser, [2, 4], gamma=0.1)


def adam(model: nn.Module):
    optimiser = Adam(model.parameters(), lr=0.01)
    return optimiser, CosineAnnealingLR(optimiser, EPOCHS)


def warming_up(model: nn.Module):
    optimiser = SGD([{"params": model[0].parameters(), "lr": 0.2}, {"params": model[5].parameters()}], lr=0.1, nesterov=True,
                    momentum=0.5)  # fmt: skip
    return optimiser, LambdaLR(optimiser, lambda epoch: min(1.0, (epoch + 1) / 3))


def constant(model: nn.Module):
    return SGD(model.parameters(), lr=0.1), None


RULES = [sgd, adam, warming_up, constant]


def trained(rule=sgd, batches=None, callbacks=(), seed=SEED, epochs=EPOCHS, objective=classification, device="cpu"):
    """Model and history."""
    model = make_model(device)
    optimiser, scheduler = rule(model)
    batches = batches or Shuffled(X, Y, BATCH)
    return model, train_epochs(model, batches, objective, optimiser, epochs, seed, scheduler, callbacks)


def equal(one: nn.Module, other: nn.Module) -> bool:
    states = [module.state_dict() for module in (one, other)]
    return states[0].keys() == states[1].keys() and all(torch.equal(states[0][name], states[1][name]) for name in states[0])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("rule", RULES)
def test_it_is_the_loop_that_one_writes_by_hand(rule, device):
    model, means = make_model(device), []
    optimiser, scheduler = rule(model)
    loss_function = nn.CrossEntropyLoss()
    for epoch in range(EPOCHS):
        total = 0.0
        torch.manual_seed(stream(SEED, "inside the model", epoch).initial_seed())
        order = torch.randperm(N, generator=stream(SEED, "mini-batches", N, epoch))
        for rows in (order[:8], order[8:16], order[16:]):
            optimiser.zero_grad()
            loss = loss_function(model(X[rows].to(device)), Y[rows].to(device))
            loss.backward()
            optimiser.step()
            total += loss.item() * len(rows)
        means.append(total / N)
        if scheduler:
            scheduler.step()
    ours, history = trained(rule, device=device)
    assert equal(ours, model)
    assert [row["loss"] for row in history] == pytest.approx(means, rel=1e-12)


def test_on_a_network_of_the_grid_it_does_what_the_grid_does():
    start, outputs, names = METHODS["2layer"]
    net = start(12, 6, 3, 1)
    inputs, labels = X[:, 0, 0].double(), torch.randn(N, 3, generator=stream(1, "labels"), dtype=torch.float64)

    class Module(nn.Module):
        def __init__(self):
            super().__init__()
            for name, weights in net._asdict().items():
                self.register_parameter(name, nn.Parameter(weights.clone(), requires_grad=name in names))

        def forward(self, x):
            return outputs(type(net)(**dict(self.named_parameters())), x)

    plan = Plan(outputs, names, Schedule(EPOCHS, 3, batch=BATCH), torch.float64)
    (result,) = train_grid([Trial(net, inputs, labels, 0.1, 1e-3, SEED)], plan)
    model = Module()
    optimiser = SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-3)  # it leaves alone what has no gradient
    scheduler = MultiStepLR(optimiser, [3])
    history = train_epochs(model, Shuffled(inputs, labels, BATCH), half_squares, optimiser, EPOCHS, SEED, scheduler)
    for name, weights in model.named_parameters():
        assert torch.allclose(weights, getattr(result.net, name), rtol=1e-10, atol=1e-12)
    assert [row["loss"] for row in history] == pytest.approx(result.losses.tolist(), rel=1e-10)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HIERLIB_CHECKPOINTS", str(tmp_path))
    monkeypatch.setattr(checkpoint, "SAVE_EVERY", 0.0)
    return tmp_path


class Watch:
    """Counts the epochs it sees, measures something, and interrupts once if asked."""

    def __init__(self, interrupt_at: int | None = None):
        self.seen, self.interrupt_at = [], interrupt_at

    def __call__(self, epoch, model, means):
        if epoch == self.interrupt_at:
            raise KeyboardInterrupt
        self.seen.append(epoch)
        return {"norm": model[0].weight.norm().item(), "doubled": 2 * means["loss"]}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("interrupt_at", [1, 2, 3, 5])
@pytest.mark.parametrize("rule", RULES)
def test_a_run_that_was_interrupted_ends_as_if_nothing_had_happened(rule, interrupt_at, device, folder, monkeypatch):
    with monkeypatch.context() as patch:
        patch.delenv("HIERLIB_CHECKPOINTS")
        whole, expected = trained(rule, callbacks=[Watch()], device=device)
    with pytest.raises(KeyboardInterrupt):
        trained(rule, callbacks=[Watch(interrupt_at)], device=device)
    torch.rand(7)  # the second time, the world is in another state
    watch = Watch()
    model, history = trained(rule, callbacks=[watch], device=device)
    assert equal(model, whole) and history == expected
    assert watch.seen == list(range(interrupt_at, EPOCHS + 1)), "saved epochs are not trained again"


def test_a_run_that_was_complete_is_not_repeated(folder):
    first, history = trained(callbacks=[Watch()])
    watch = Watch()
    again, same = trained(callbacks=[watch])
    assert equal(first, again) and same == history and watch.seen == []
    assert not first.training and not again.training


def test_a_damaged_checkpoint_starts_the_run_anew(folder):
    first, history = trained()
    (file,) = folder.iterdir()
    file.write_bytes(file.read_bytes()[:1000])
    again, same = trained()
    assert equal(first, again) and same == history


def faster(model):
    optimiser, scheduler = sgd(model)
    optimiser.param_groups[0]["lr"] = 0.2
    return optimiser, scheduler


def top_only(model):
    optimiser = SGD(model[5].parameters(), lr=0.1)
    return optimiser, None


def bottom_only(model):
    optimiser = SGD(model[0].parameters(), lr=0.1)
    return optimiser, None


def with_lambda(power):
    def rule(model):
        optimiser = SGD(model.parameters(), lr=0.1)
        return optimiser, LambdaLR(optimiser, lambda epoch: 1 / (epoch + 1) ** power)

    return rule


def scaled(factor):
    def objective(model, x, y):
        return {name: factor * value for name, value in classification(model, x, y).items()}

    return objective


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({}, {"rule": faster}),
        ({}, {"seed": SEED + 1}),
        ({}, {"epochs": EPOCHS - 1}),
        ({}, {"batches": Shuffled(X, Y, BATCH + 1)}),
        ({}, {"batches": Shuffled(X + 1, Y, BATCH)}),
        ({}, {"batches": Shuffled(X, Y, BATCH, lambda x, draws: -x)}),
        ({"rule": top_only}, {"rule": bottom_only}),
        ({"rule": with_lambda(1)}, {"rule": with_lambda(2)}),
        ({"objective": scaled(1.0)}, {"objective": scaled(2.0)}),
    ],
    ids=["rate", "seed", "length", "batch", "inputs", "augmentation", "what is trained", "lambda", "objective"],
)
def test_a_checkpoint_of_another_run_is_not_used(one, other, folder, monkeypatch):
    with monkeypatch.context() as patch:
        patch.delenv("HIERLIB_CHECKPOINTS")
        fresh, expected = trained(**other)
    trained(**one)
    model, history = trained(**other)
    assert equal(model, fresh) and history == expected and len(list(folder.iterdir())) == 2


def test_nothing_depends_on_the_global_random_state_and_none_is_left_behind():
    torch.manual_seed(1)
    before = torch.get_rng_state()
    one, _ = trained()
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(2)
    assert equal(one, trained()[0])
    assert not equal(one, trained(seed=SEED + 1)[0])


def test_callbacks_see_the_model_as_it_will_be_used_and_what_they_draw_changes_nothing():
    modes = []

    def look(epoch, model, means):
        modes.append(model.training)
        torch.rand(5)

    def error(epoch, model, means):
        assert set(means) == {"loss", "error"}
        return {"test error": (model(X).argmax(1) != Y).double().mean()}

    plain, expected = trained()
    model, history = trained(callbacks=[look, error])
    assert modes == [False] * EPOCHS and equal(model, plain)
    assert [row.pop("test error") for row in history][-1] == (model.eval()(X).argmax(1) != Y).double().mean()
    assert history == expected and all(type(value) is float for row in history for value in row.values())


def test_every_epoch_shows_every_sample_once_in_an_order_of_its_own():
    index = torch.arange(N)
    batches = Shuffled(index, index, BATCH)
    epochs = [torch.cat([x for x, _ in batches(SEED, epoch)]) for epoch in range(3)]
    assert all(torch.equal(order.sort().values, index) for order in epochs)
    assert not torch.equal(epochs[0], epochs[1]) and [len(x) for x, _ in batches(SEED, 0)] == [8, 8, 6]
    assert all(torch.equal(x, y) for x, y in batches(SEED, 1)), "labels stay with their inputs"


def test_augmentation_draws_the_same_for_the_same_epoch_and_leaves_the_samples_as_they_are():
    def noisy(x, draws):
        return x + torch.randn(x.shape, generator=draws)

    kept, batches = X.clone(), Shuffled(X, Y, BATCH, noisy)
    once, again, later = ([x for x, _ in batches(SEED, epoch)] for epoch in (0, 0, 1))
    assert all(torch.equal(a, b) for a, b in zip(once, again, strict=True)) and torch.equal(X, kept)
    assert not torch.equal(once[0], once[1]) and not torch.equal(once[0], later[0])


def test_batches_may_be_any_function():
    def full(seed, epoch):
        yield X, Y

    model, history = trained(batches=full, epochs=1)
    assert history[0]["loss"] > 0 and not equal(model, make_model())


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
def test_a_gpu_sees_the_same_order_and_the_same_augmentation():
    def noisy(x, draws):
        return x + torch.randn(x.shape, generator=draws).to(x.device)

    for (x, y), (there, labels) in zip(
        Shuffled(X, Y, BATCH, noisy)(SEED, 0), Shuffled(X.cuda(), Y.cuda(), BATCH, noisy)(SEED, 0), strict=True
    ):
        assert torch.equal(x, there.cpu()) and torch.equal(y, labels.cpu())
