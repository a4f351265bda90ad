import numpy as np
import pytest
import torch

from hierlib.streams import stream


def draw(seed: int, *names) -> list[float]:
    return torch.rand(5, generator=stream(seed, *names)).tolist()


def test_the_same_seed_and_names_give_the_same_numbers():
    assert draw(0, "labels", 10) == draw(0, "labels", 10)


@pytest.mark.parametrize(
    ("seed", "names"),
    [(1, ("labels", 10)), (-1, ("labels", 10)), (0, ("weights", 10)), (0, ("labels", 11)), (0, ("labels",)), (0, ())],
)
def test_another_seed_or_name_gives_other_numbers(seed, names):
    assert draw(seed, *names) != draw(0, "labels", 10)


@pytest.mark.parametrize(("one", "other"), [(("ab", "c"), ("a", "bc")), (("a", "b"), ("b", "a"))])
def test_names_neither_run_together_nor_commute(one, other):
    assert draw(0, *one) != draw(0, *other)


def test_a_draw_under_a_new_name_does_not_shift_an_old_one():
    def old_numbers(with_new_draw: bool) -> list[float]:
        old = stream(3, "old")
        first = torch.rand(4, generator=old)
        if with_new_draw:
            torch.rand(100, generator=stream(3, "new"))
        return torch.cat([first, torch.rand(4, generator=old)]).tolist()

    assert old_numbers(with_new_draw=True) == old_numbers(with_new_draw=False)


def test_the_global_state_of_torch_is_neither_used_nor_changed():
    with torch.random.fork_rng():
        torch.manual_seed(1)
        state, first = torch.get_rng_state(), draw(0, "labels")
        assert torch.equal(torch.get_rng_state(), state)
        torch.manual_seed(2)
        assert draw(0, "labels") == first


def test_numbers_stay_the_same_from_one_process_and_release_to_the_next():
    # Pinned: Python's own hash() of a string would change with every process.
    assert stream(0, "labels", 10).initial_seed() == 6603535777535819602


def test_a_number_is_a_name_whatever_library_it_comes_from():
    assert draw(np.int64(0), "labels", np.int64(10)) == draw(0, "labels", 10)
