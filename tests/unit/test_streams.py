import numpy as np
import pytest
import torch

from hierlib.streams import normals, signs, stream


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


def test_signs_are_fair_coins_in_float64_from_the_stream_of_names_and_shape():
    coins = signs((400, 50), 0, "coins", 7)
    assert coins.dtype == torch.float64 and set(coins.unique().tolist()) == {-1.0, 1.0}
    assert abs(coins.mean()) < 5 / 20_000**0.5
    by_hand = torch.randint(0, 2, (400, 50), generator=stream(0, "coins", 7, 400, 50))
    assert torch.equal(coins, torch.where(by_hand == 1, 1.0, -1.0).double())


def test_normals_have_the_scale_that_was_asked_for_and_keep_their_draw():
    drawn = normals((400, 50), 0, "weights", scale=0.3)
    assert drawn.dtype == torch.float64
    assert abs(drawn.mean()) < 5 * 0.3 / 20_000**0.5
    assert abs(drawn.var() / 0.09 - 1) < 5 * (2 / 20_000) ** 0.5
    assert torch.equal(drawn, 0.3 * normals((400, 50), 0, "weights"))


@pytest.mark.parametrize("drawn", [signs, normals])
def test_seed_names_and_shape_choose_the_draw(drawn):
    one = drawn((40,), 0, "a")
    assert torch.equal(one, drawn((40,), 0, "a"))
    for other in (drawn((40,), 1, "a"), drawn((40,), 0, "b"), drawn((40,), 0, "a", 1), drawn((41,), 0, "a")[:40]):
        assert not torch.equal(one, other)


def test_draws_stay_the_same_from_one_release_to_the_next():
    # Pinned: every number of the book rests on these two.
    assert signs((8,), 0, "pinned").tolist() == [-1, -1, 1, -1, 1, 1, -1, 1]
    assert normals((3,), 0, "pinned").tolist() == pytest.approx([0.241820670863, 1.203832765629, 1.427513889436], abs=1e-12)
