"""A grid of networks trained at once gives what each of them gives when it is trained alone."""

from typing import NamedTuple

import pytest
import torch
from torch import Tensor

from hierlib.data.cubes import hypercube
from hierlib.nets import fully_connected, residual
from hierlib.papers.resnet_kernels.methods import METHODS
from hierlib.targets.hierarchy import paired_parities
from hierlib.train import checkpoint, grid
from hierlib.train.grid import Plan, Schedule, Trial, stacks, train_grid, train_stack

SCHEDULE = Schedule(epochs=6, drop_at=4, batch=7)  # 7 does not divide the sample sizes: the last mini-batch is smaller
PLAN = Plan(residual.outputs, ("W", "V"), SCHEDULE, torch.float64)


def sample(n: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    X = hypercube(n, 10, seed, "samples")
    return X, paired_parities(X, k=4).labels(0.3)


def make_trials(start=residual.residual, widths=(12,)) -> list[Trial]:
    """Different rates, decays, seeds, sample sizes and orders."""
    data = {(n, seed): sample(n, seed) for n in (20, 32) for seed in (0, 1)}
    return [
        Trial(start(m, 10, 4, seed), *data[n, seed], rate, decay, batch_seed=seed + 5)
        for m in widths
        for n in (20, 32)
        for seed in (0, 1)
        for rate, decay in ((0.05, 0.0), (0.2, 1e-2), (0.1, 1e-3))
    ]


def alone(run: Trial, outputs, trained: tuple[str, ...], schedule: Schedule) -> list[torch.Tensor]:
    """The same network with torch.optim.SGD and a loop over mini-batches."""
    weights = {f: w.clone().requires_grad_(f in trained) for f, w in run.net._asdict().items()}
    optimiser = torch.optim.SGD(
        [weights[f] for f in trained], lr=run.rate, momentum=schedule.momentum, weight_decay=run.decay
    )
    plan = torch.optim.lr_scheduler.MultiStepLR(optimiser, [schedule.drop_at or schedule.epochs + 1], gamma=schedule.drop)
    for epoch in range(schedule.epochs):
        order = torch.randperm(len(run.X), generator=grid.stream(run.batch_seed, "mini-batches", len(run.X), epoch))
        for rows in order.split(schedule.batch):
            optimiser.zero_grad()
            loss = (outputs(type(run.net)(**weights), run.X[rows]) - run.Y[rows]).square().sum(1).mean() / 2
            loss.backward()
            optimiser.step()
        plan.step()
    return [w.detach() for w in weights.values()]


@pytest.mark.parametrize("name", METHODS)
def test_every_run_is_the_run_that_torch_sgd_makes_alone(name):
    method = METHODS[name]
    runs = make_trials(method.start)
    results = train_grid(runs, PLAN._replace(outputs=method.outputs, trained=method.trained))
    for run, result in zip(runs, results, strict=True):
        for ours, theirs in zip(result.net, alone(run, method.outputs, method.trained, SCHEDULE), strict=True):
            assert torch.allclose(ours, theirs, rtol=1e-9, atol=1e-11)


class Convolutional(NamedTuple):
    """Two convolutions with biases and a scale, then the mean over the pixels: images (3, 5, 5) to three numbers."""

    kernel: Tensor  # (4, 3, 3, 3)
    bias: Tensor  # (4,)
    scale: Tensor  # ()
    top: Tensor  # (3, 4, 3, 3)
    top_bias: Tensor  # (3,)


def convolutional(seed: int) -> Convolutional:
    shapes = [(4, 3, 3, 3), (4,), (), (3, 4, 3, 3), (3,)]
    draws = grid.stream(seed, "convolutional")
    return Convolutional(*(torch.randn(shape, generator=draws, dtype=torch.float64) / 3 for shape in shapes))


def convolutional_outputs(net: Convolutional, X: Tensor) -> Tensor:
    if X.ndim == 5:  # a stack of networks, each with images of its own
        return torch.func.vmap(convolutional_outputs)(net, X)
    hidden = torch.tanh(torch.conv2d(X, net.kernel, net.bias, padding=1)) * net.scale
    return torch.conv2d(hidden, net.top, net.top_bias).mean((-1, -2))


def images(n: int, seed: int) -> tuple[Tensor, Tensor]:
    draws = grid.stream(seed, "images")
    return tuple(torch.randn(n, *shape, generator=draws, dtype=torch.float64) for shape in ((3, 5, 5), (3,)))


def test_every_run_of_a_convolutional_network_has_the_rate_and_decay_that_torch_sgd_gives_it_alone():
    """As many runs as colours: a rate that went by colour instead of by run would raise no error."""
    data = {n: images(n, seed=n) for n in (12, 20)}
    settings = [(20, 0.0, 0.1), (20, 0.1, 0.0), (20, 0.2, 1e-2), (12, 0.05, 0.2)]
    runs = [Trial(convolutional(i), *data[n], rate, decay, batch_seed=i) for i, (n, rate, decay) in enumerate(settings)]
    names = Convolutional._fields
    results = train_grid(runs, PLAN._replace(outputs=convolutional_outputs, trained=names))
    for run, result in zip(runs, results, strict=True):
        for ours, theirs in zip(result.net, alone(run, convolutional_outputs, names, SCHEDULE), strict=True):
            assert torch.allclose(ours, theirs, rtol=1e-9, atol=1e-9)


def test_three_rates_give_three_kernels():
    class Kernel(NamedTuple):
        kernel: Tensor

    def outputs(net: Kernel, X: Tensor) -> Tensor:
        return torch.func.vmap(lambda kernel, x: torch.conv2d(x, kernel).mean((-1, -2)))(net.kernel, X)

    runs = [Trial(Kernel(convolutional(0).top[:, :3]), *images(20, 0), rate, 0.0, batch_seed=0) for rate in (0.0, 0.1, 0.2)]
    still, slow, fast = (result.net.kernel for result in train_grid(runs, Plan(outputs, ("kernel",), SCHEDULE)))
    start = runs[0].net.kernel
    assert torch.allclose(still, start) and 0 < (slow - start).norm() < (fast - start).norm()


def test_networks_of_several_widths_may_be_mixed_and_come_back_in_order():
    runs = make_trials(widths=(6, 12))
    results = train_grid(runs[::-1], PLAN)[::-1]
    for run, result in zip(runs, results, strict=True):
        expected = alone(run, residual.outputs, ("W", "V"), SCHEDULE)
        assert all(torch.allclose(a, b, rtol=1e-9, atol=1e-11) for a, b in zip(result.net, expected, strict=True))


def test_the_split_into_stacks_changes_nothing(monkeypatch):
    runs = make_trials()
    whole = train_grid(runs, PLAN)
    monkeypatch.setitem(grid.ENTRIES, "cpu", 1)
    assert len(stacks(runs, PLAN)) == len(runs), "one network per stack"
    apart = train_grid(runs, PLAN)
    for a, b in zip(whole, apart, strict=True):
        assert torch.allclose(a.net.W, b.net.W, rtol=1e-10) and torch.allclose(a.losses, b.losses, rtol=1e-10)


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("entries", [1, 100, 250, 10**6])
def test_stacks_hold_every_run_once_and_none_is_empty(monkeypatch, count, entries):
    monkeypatch.setitem(grid.ENTRIES, "cpu", entries)
    parts = stacks(make_trials()[:1] * count, PLAN)
    assert sorted(i for part in parts for i in part) == list(range(count)) and all(parts)


def test_what_is_not_trained_stays_exactly_as_it_was():
    runs = make_trials()
    for run, result in zip(runs, train_grid(runs, PLAN._replace(trained=("W",))), strict=True):
        assert torch.equal(run.net.A, result.net.A) and torch.equal(run.net.V, result.net.V)
        assert not torch.equal(run.net.W, result.net.W)


def test_the_losses_are_means_over_the_epoch_before_each_step():
    run = make_trials()[0]._replace(rate=0.0)
    (result,) = train_grid([run], PLAN)
    expected = (residual.outputs(run.net, run.X) - run.Y).square().sum(1).mean() / 2
    assert torch.allclose(result.losses, expected.expand(SCHEDULE.epochs))


def test_a_run_that_diverges_is_reported_and_leaves_its_neighbours_alone():
    runs = make_trials()
    wild = [run._replace(rate=1e6) if i in (1, 4) else run for i, run in enumerate(runs)]
    calm = train_grid(runs, PLAN)
    results = train_grid(wild, PLAN)
    for i, (before, after) in enumerate(zip(calm, results, strict=True)):
        if i in (1, 4):
            assert after.diverged is not None and after.losses[-1] == torch.inf
        else:
            assert after.diverged is None and torch.allclose(before.net.W, after.net.W, rtol=1e-10)


def test_a_grid_in_which_everything_diverges_still_answers():
    runs = [run._replace(rate=1e9) for run in make_trials()]
    results = train_grid(runs, PLAN._replace(dtype=torch.float32))
    assert all(result.diverged for result in results) and len(results) == len(runs)


@pytest.mark.parametrize("stop_after", [1, 4, 5])
def test_work_that_was_interrupted_goes_on_where_it_was(tmp_path, monkeypatch, stop_after):
    """Stopped before and after the drop of the rate, with one run that has diverged by then."""
    runs = [run._replace(rate=1e6) if i == 1 else run for i, run in enumerate(make_trials()[:6])]
    whole = train_stack(runs, PLAN)
    monkeypatch.setenv("HIERLIB_CHECKPOINTS", str(tmp_path))
    monkeypatch.setattr(checkpoint, "SAVE_EVERY", 0.0)
    told = []

    def interrupt(epochs: int) -> None:
        told.append(epochs)
        if len(told) == stop_after + 1:  # the first time it is told that nothing has been done yet
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_stack(runs, PLAN, interrupt)
    told.clear()
    resumed = train_stack(runs, PLAN, told.append)
    assert told == [6 * stop_after] + [6] * (SCHEDULE.epochs - stop_after), "no epoch is trained twice"
    for a, b in zip(whole, resumed, strict=True):
        assert a.diverged == b.diverged and torch.equal(a.losses, b.losses)
        assert all(torch.equal(x, y) for x, y in zip(a.net, b.net, strict=True)) or a.diverged


@pytest.mark.parametrize(
    "change",
    [
        lambda trials, plan: (trials[::-1], plan),
        lambda trials, plan: ([trial._replace(decay=0.5) for trial in trials], plan),
        lambda trials, plan: ([trial._replace(batch_seed=9) for trial in trials], plan),
        lambda trials, plan: ([trial._replace(X=trial.X + 1) for trial in trials], plan),
        lambda trials, plan: ([trial._replace(net=trial.net._replace(A=-trial.net.A)) for trial in trials], plan),
        lambda trials, plan: (trials, plan._replace(trained=("V",))),
        lambda trials, plan: (trials, plan._replace(outputs=lambda net, X: 0.5 * residual.outputs(net, X))),
        lambda trials, plan: (trials, plan._replace(schedule=SCHEDULE._replace(momentum=0.5))),
        lambda trials, plan: (trials, plan._replace(dtype=torch.float32)),
    ],
    ids=["order", "decay", "seed", "inputs", "start", "trained", "outputs", "schedule", "precision"],
)
def test_a_checkpoint_of_other_work_is_not_used(tmp_path, monkeypatch, change):
    trials, plan = change(make_trials()[:3], PLAN)
    fresh = train_stack(trials, plan)
    monkeypatch.setenv("HIERLIB_CHECKPOINTS", str(tmp_path))
    monkeypatch.setattr(checkpoint, "SAVE_EVERY", 0.0)
    train_stack(make_trials()[:3], PLAN)
    for a, b in zip(train_stack(trials, plan), fresh, strict=True):
        assert torch.equal(a.net.W, b.net.W) and torch.equal(a.losses, b.losses)
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("broken", [6, 12])
def test_an_error_in_one_stack_stops_the_others_and_is_raised(broken, monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: 4)  # four stacks at a time

    def outputs(net, X):
        if net.W.shape[-2] == broken:
            raise RuntimeError("broken")
        return residual.outputs(net, X)

    with pytest.raises(RuntimeError, match="broken"):
        # a million epochs: it ends only because the error ends it
        train_grid(make_trials(widths=(6, 12)), Plan(outputs, ("W", "V"), SCHEDULE._replace(epochs=10**6)))


def test_mistakes_are_named_in_one_sentence():
    trial = make_trials(fully_connected.shallow)[0]
    plan = Plan(fully_connected.outputs, ("W",), SCHEDULE)
    with pytest.raises(ValueError, match=r"^there is nothing named V in Shallow: A, W$"):
        train_grid([trial], plan._replace(trained=("W", "V")))
    with pytest.raises(ValueError, match=r"^trial 0 has 20 inputs but 19 labels$"):
        train_grid([trial._replace(Y=trial.Y[:-1])], plan)
    with pytest.raises(ValueError, match=r'^`trained` is a tuple of names of fields .*, not the string "WA"$'):
        train_grid([trial], plan._replace(trained="WA"))


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
def test_a_gpu_gives_the_same_networks():
    runs = make_trials()
    here, there = (train_grid(runs, PLAN._replace(device=device)) for device in ("cpu", "cuda"))
    assert all(torch.allclose(a.net.W, b.net.W, rtol=1e-8) for a, b in zip(here, there, strict=True))
