"""A grid of networks trained at once gives what each of them gives when it is trained alone."""

import pytest
import torch

from hierlib.data.cubes import hypercube
from hierlib.nets import fully_connected, residual
from hierlib.papers.resnet_kernels.methods import METHODS
from hierlib.targets.hierarchy import paired_parities
from hierlib.train import grid
from hierlib.train.grid import Run, Schedule, blocks, train_block, train_grid

SCHEDULE = Schedule(epochs=6, drop_at=4, batch=7)  # 7 does not divide the sample sizes: the last mini-batch is smaller


def sample(n: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    X = hypercube(n, 10, seed, "samples")
    return X, paired_parities(X, k=4).labels(0.3)


def make_runs(start=residual.residual, widths=(12,)) -> list[Run]:
    """Different rates, decays, seeds, sample sizes and orders."""
    data = {(n, seed): sample(n, seed) for n in (20, 32) for seed in (0, 1)}
    return [
        Run(start(m, 10, 4, seed), *data[n, seed], rate, decay, order=seed + 5)
        for m in widths
        for n in (20, 32)
        for seed in (0, 1)
        for rate, decay in ((0.05, 0.0), (0.2, 1e-2), (0.1, 1e-3))
    ]


def alone(run: Run, outputs, trained: tuple[str, ...], schedule: Schedule) -> list[torch.Tensor]:
    """The same network with torch.optim.SGD and a loop over mini-batches."""
    weights = {f: w.clone().requires_grad_(f in trained) for f, w in run.net._asdict().items()}
    optimiser = torch.optim.SGD(
        [weights[f] for f in trained], lr=run.rate, momentum=schedule.momentum, weight_decay=run.decay
    )
    plan = torch.optim.lr_scheduler.MultiStepLR(optimiser, [schedule.drop_at or schedule.epochs + 1], gamma=schedule.drop)
    for epoch in range(schedule.epochs):
        order = torch.randperm(len(run.X), generator=grid.stream(run.order, "mini-batches", len(run.X), epoch))
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
    runs = make_runs(method.start)
    results = train_grid(runs, method.outputs, method.trained, SCHEDULE, dtype=torch.float64)
    for run, result in zip(runs, results, strict=True):
        for ours, theirs in zip(result.net, alone(run, method.outputs, method.trained, SCHEDULE), strict=True):
            assert torch.allclose(ours, theirs, rtol=1e-9, atol=1e-11)


def test_networks_of_several_widths_may_be_mixed_and_come_back_in_order():
    runs = make_runs(widths=(6, 12))
    results = train_grid(runs[::-1], residual.outputs, ("W", "V"), SCHEDULE, dtype=torch.float64)[::-1]
    for run, result in zip(runs, results, strict=True):
        expected = alone(run, residual.outputs, ("W", "V"), SCHEDULE)
        assert all(torch.allclose(a, b, rtol=1e-9, atol=1e-11) for a, b in zip(result.net, expected, strict=True))


def test_the_split_into_blocks_changes_nothing(monkeypatch):
    runs = make_runs()
    whole = train_grid(runs, residual.outputs, ("W", "V"), SCHEDULE, dtype=torch.float64)
    monkeypatch.setitem(grid.ENTRIES, "cpu", 1)
    assert len(blocks(runs, SCHEDULE)) == len(runs), "one network per block"
    apart = train_grid(runs, residual.outputs, ("W", "V"), SCHEDULE, dtype=torch.float64)
    for a, b in zip(whole, apart, strict=True):
        assert torch.allclose(a.net.W, b.net.W, rtol=1e-10) and torch.allclose(a.losses, b.losses, rtol=1e-10)


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("entries", [1, 100, 250, 10**6])
def test_blocks_hold_every_run_once_and_none_is_empty(monkeypatch, count, entries):
    monkeypatch.setitem(grid.ENTRIES, "cpu", entries)
    parts = blocks(make_runs()[:1] * count, SCHEDULE)
    assert sorted(i for part in parts for i in part) == list(range(count)) and all(parts)


def test_what_is_not_trained_stays_exactly_as_it_was():
    runs = make_runs()
    for run, result in zip(runs, train_grid(runs, residual.outputs, ("W",), SCHEDULE, dtype=torch.float64), strict=True):
        assert torch.equal(run.net.A, result.net.A) and torch.equal(run.net.V, result.net.V)
        assert not torch.equal(run.net.W, result.net.W)


def test_the_losses_are_means_over_the_epoch_before_each_step():
    run = make_runs()[0]._replace(rate=0.0)
    (result,) = train_grid([run], residual.outputs, ("W", "V"), SCHEDULE, dtype=torch.float64)
    expected = (residual.outputs(run.net, run.X) - run.Y).square().sum(1).mean() / 2
    assert torch.allclose(result.losses, expected.expand(SCHEDULE.epochs))


def test_a_run_that_diverges_is_reported_and_leaves_its_neighbours_alone():
    runs = make_runs()
    wild = [run._replace(rate=1e6) if i in (1, 4) else run for i, run in enumerate(runs)]
    calm = train_grid(runs, residual.outputs, ("W", "V"), SCHEDULE, dtype=torch.float64)
    results = train_grid(wild, residual.outputs, ("W", "V"), SCHEDULE, dtype=torch.float64)
    for i, (before, after) in enumerate(zip(calm, results, strict=True)):
        if i in (1, 4):
            assert after.diverged is not None and after.losses[-1] == torch.inf
        else:
            assert after.diverged is None and torch.allclose(before.net.W, after.net.W, rtol=1e-10)


def test_a_grid_in_which_everything_diverges_still_answers():
    runs = [run._replace(rate=1e9) for run in make_runs()]
    results = train_grid(runs, residual.outputs, ("W", "V"), SCHEDULE)
    assert all(result.diverged for result in results) and len(results) == len(runs)


@pytest.mark.parametrize("stop_after", [1, 4, 5])
def test_work_that_was_interrupted_goes_on_where_it_was(tmp_path, monkeypatch, stop_after):
    """Stopped before and after the drop of the rate, with one run that has diverged by then."""
    runs = [run._replace(rate=1e6) if i == 1 else run for i, run in enumerate(make_runs()[:6])]
    whole = train_block(runs, residual.outputs, ("W", "V"), SCHEDULE, torch.float64)
    monkeypatch.setenv("HIERLIB_CHECKPOINTS", str(tmp_path))
    monkeypatch.setattr(grid, "SAVE_EVERY", 0.0)
    epochs = []

    def shuffled(orders, N, epoch):
        epochs.append(epoch)
        if len(epochs) == stop_after + 1:
            raise KeyboardInterrupt
        return kept(orders, N, epoch)

    kept = grid._shuffled
    monkeypatch.setattr(grid, "_shuffled", shuffled)
    with pytest.raises(KeyboardInterrupt):
        train_block(runs, residual.outputs, ("W", "V"), SCHEDULE, torch.float64)
    epochs.clear()
    monkeypatch.setattr(grid, "_shuffled", lambda *call: epochs.append(call[2]) or kept(*call))
    resumed = train_block(runs, residual.outputs, ("W", "V"), SCHEDULE, torch.float64)
    assert epochs == list(range(stop_after, SCHEDULE.epochs)), "no epoch is trained twice"
    for a, b in zip(whole, resumed, strict=True):
        assert a.diverged == b.diverged and torch.equal(a.losses, b.losses)
        assert torch.equal(a.net.W, b.net.W) or a.diverged


def test_a_damaged_or_foreign_checkpoint_is_not_used(tmp_path, monkeypatch):
    runs = make_runs()[:3]
    monkeypatch.setenv("HIERLIB_CHECKPOINTS", str(tmp_path))
    monkeypatch.setattr(grid, "SAVE_EVERY", 0.0)
    first = train_block(runs, residual.outputs, ("W", "V"), SCHEDULE, torch.float64)
    (file,) = tmp_path.iterdir()
    other = train_block([run._replace(decay=0.5) for run in runs], residual.outputs, ("W", "V"), SCHEDULE, torch.float64)
    assert len(list(tmp_path.iterdir())) == 2 and not torch.equal(other[0].net.W, first[0].net.W)
    file.write_bytes(file.read_bytes()[:100])
    again = train_block(runs, residual.outputs, ("W", "V"), SCHEDULE, torch.float64)
    assert torch.equal(again[0].net.W, first[0].net.W)


def test_an_error_in_one_block_stops_the_others_and_is_raised():
    def outputs(net, X):
        if net.W.shape[-2] == 6:
            raise RuntimeError("broken")
        return residual.outputs(net, X)

    with pytest.raises(RuntimeError, match="broken"):
        # a million epochs: it ends only because the error ends it
        train_grid(make_runs(widths=(6, 12)), outputs, ("W", "V"), SCHEDULE._replace(epochs=10**6))


def test_mistakes_are_named_in_one_sentence():
    run = make_runs(fully_connected.shallow)[0]
    with pytest.raises(ValueError, match=r"^there is nothing named V in Shallow: A, W$"):
        train_grid([run], fully_connected.outputs, ("W", "V"), SCHEDULE)
    with pytest.raises(ValueError, match=r"^run 0 has 20 inputs but 19 labels$"):
        train_grid([run._replace(Y=run.Y[:-1])], fully_connected.outputs, ("W",), SCHEDULE)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
def test_a_gpu_gives_the_same_networks():
    runs = make_runs()
    here, there = (train_grid(runs, residual.outputs, ("W", "V"), SCHEDULE, torch.float64, d) for d in ("cpu", "cuda"))
    assert all(torch.allclose(a.net.W, b.net.W, rtol=1e-8) for a, b in zip(here, there, strict=True))
