import math

import pytest
import torch

from hierlib.data.spheres import unit_sphere
from hierlib.targets.concepts import Composite, Concept2, random_concept1, random_concept2, split, to_concept2, winding
from hierlib.targets.powers import series_value

X = unit_sphere(12, 4, seed=0)
ANYWHERE = 3 * torch.randn(12, 4, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
ONE = random_concept1(4, 3, 2, 7, seed=0)
TWO = random_concept2(4, 3, 2, 7, seed=0)


def polynomial(coefficients, z):
    return sum(float(c) * z**j for j, c in enumerate(coefficients))


def test_concept1_is_equation_5_2_term_by_term():
    for n, x in enumerate(X):
        for r in range(3):
            terms = [ONE.a[r, i] * polynomial(ONE.coefficients[r, i], ONE.w[r, i] @ x) for i in range(2)]
            assert math.isclose(ONE(X)[n, r], sum(terms), abs_tol=1e-13)


def test_concept2_is_definition_B1_term_by_term():
    for n, x in enumerate(ANYWHERE):
        y = torch.cat([x, torch.ones(1)])
        for r in range(3):
            forms = [(TWO.w1[r, i] @ y / y.norm(), TWO.w2[r, i] @ y) for i in range(2)]
            terms = [TWO.a[r, i] * polynomial(TWO.coefficients[r, i], z) * factor for i, (z, factor) in enumerate(forms)]
            assert math.isclose(TWO(ANYWHERE)[n, r], sum(terms), abs_tol=1e-12)


def test_random_functions_obey_the_definitions():
    assert torch.allclose(ONE.w.norm(dim=-1), torch.tensor(0.5**0.5).double())
    assert torch.allclose(torch.stack([TWO.w1, TWO.w2]).norm(dim=-1), torch.ones(()).double())
    assert max(ONE.a.abs().max(), TWO.a.abs().max()) <= 1
    assert (TWO.coefficients[..., 2::2] == 0).all() and (TWO.coefficients[..., 1::2] != 0).all()
    assert not torch.equal(ONE.w, random_concept1(4, 3, 2, 7, seed=1).w)


def test_the_split_keeps_the_function_and_leaves_no_even_terms():
    z = torch.linspace(-1, 1, 11, dtype=torch.float64)
    c = torch.arange(1.0, 10.0).double()
    plus, minus = split(c)
    assert torch.allclose(series_value(plus, z) + z * series_value(minus, z), series_value(c, z), atol=1e-13)
    assert plus.tolist() == [1, 2, 0, 4, 0, 6, 0, 8, 0]
    assert minus.tolist() == [0, 3, 0, 5, 0, 7, 0, 9, 0]


def test_the_embedding_agrees_on_the_sphere_and_only_there():
    two = to_concept2(ONE)
    assert torch.allclose(two(X), ONE(X), atol=1e-13)
    assert (two(1.5 * X) - ONE(1.5 * X)).abs().max() > 0.01


def test_the_embedding_is_a_member_of_concept2_with_twice_the_terms():
    two = to_concept2(ONE)
    assert two.a.shape == (3, 4) and two.w1.shape == two.w2.shape == (3, 4, 5)
    assert torch.allclose(torch.stack([two.w1, two.w2]).norm(dim=-1), torch.ones(()).double())
    assert two.a.abs().max() <= 1 and (two.coefficients[..., 2::2] == 0).all()


@pytest.mark.parametrize("f", [TWO, to_concept2(ONE)], ids=["random", "embedded"])
def test_the_jacobian_is_the_derivative_and_the_printed_one_is_not(f):
    exact = torch.stack([torch.autograd.functional.jacobian(lambda x: f(x[None])[0], x) for x in ANYWHERE])
    assert torch.allclose(f.jacobian(ANYWHERE), exact, atol=1e-11)
    assert (f.jacobian(ANYWHERE, printed=True) - exact).abs().max() > 1e-3


def test_the_jacobian_of_concept1():
    exact = torch.stack([torch.autograd.functional.jacobian(lambda x: ONE(x[None])[0], x) for x in X])
    assert torch.allclose(ONE.jacobian(X), exact, atol=1e-12)


@pytest.mark.parametrize(
    ("change", "missed"),
    [
        ({}, 0.0),
        ({"a": 1.5 * TWO.a / TWO.a.abs().max()}, 0.5),
        ({"w1": 1.25 * TWO.w1}, 0.25),
        ({"w2": 0.9 * TWO.w2}, 0.1),
        ({"coefficients": torch.eye(3).double()[2].expand(3, 2, 3)}, 1.0),
    ],
)
def test_every_way_to_leave_concept2_is_noticed(change, missed):
    assert math.isclose(TWO._replace(**change).outside(), missed, abs_tol=1e-12)


def test_the_composite_feeds_F_to_G():
    G = random_concept2(3, 3, 2, 5, seed=2)
    assert torch.allclose(Composite(TWO, G, 0.3)(X), TWO(X) + 0.3 * G(TWO(X)))


def test_winding_is_cosine_and_sine_with_norm_one():
    F = winding(4, 6, 3.0, seed=0)
    z = 3 * X @ F.w[2, 0]
    assert torch.allclose(F(X)[:, 2:4], torch.stack([z.cos(), z.sin()], 1) / 3**0.5, atol=1e-14)
    assert torch.allclose(F(X).norm(dim=1), torch.ones(12).double(), atol=1e-13)
    assert torch.allclose(F.w.norm(dim=-1), torch.tensor(0.5**0.5).double())
    assert torch.equal(F.w[2], F.w[3]) and not torch.allclose(F.w[1], F.w[2])


def test_a_whole_target_is_embedded_where_both_norms_are_one():
    H = Composite(winding(4, 4, 3.0, seed=0), random_concept1(4, 4, 2, 6, seed=3), 0.3)
    assert torch.allclose(H.to_concept2()(X), H(X), atol=1e-13)
    assert H.to_concept2().G.outside() < 1e-12


def test_winding_needs_pairs():
    with pytest.raises(ValueError, match="even"):
        winding(4, 3, 1.0, seed=0)


def test_one_term_by_hand():
    """phi(z) = z with w1 = w2 = e_1: x_1^2 / |(x, 1)|, whose gradient at x = (1, 0) is (3/2, 0) / sqrt(2)."""
    e = torch.tensor([[[1.0, 0.0, 0.0]]]).double()
    f = Concept2(torch.ones(1, 1).double(), torch.tensor([[[0.0, 1.0]]]).double(), e, e)
    x = torch.tensor([[1.0, 0.0]]).double()
    assert torch.allclose(f(x), torch.tensor(0.5**0.5).double())
    assert torch.allclose(f.jacobian(x)[0, 0], torch.tensor([1.5, 0.0]).double() / 2**0.5)
