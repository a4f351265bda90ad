"""The label designer in a browser: its numbers are Python's, its sliders obey the keyboard."""

import math
import re
from pathlib import Path

import pytest
import torch

from hierlib.data.images import two_class
from hierlib.data.labels import random_signs
from hierlib.kernels.relu import relu_gram
from hierlib.kernels.spectrum import inverse_norm, spectrum
from hierlib.papers.fine_grained.drawings.label_designer import Preset, label_designer
from hierlib.papers.fine_grained.mixtures import coefficients, eigenvector_labels, oriented
from hierlib.theory.linear_dynamics import iterated_residuals

NAME = "notebooks/fine-grained/label-designer"
SITE = Path(__file__).parents[2] / "_build" / "html"
PARTS = ("true labels", "random labels", "eigenvectors")


def slider(figure, name):
    return figure.page.get_by_role("slider", name=name)


def set_slider(figure, name, position):
    slider(figure, name).evaluate("(e, v) => { e.value = v; e.dispatchEvent(new Event('input')); }", position)


def set_rank(figure, name, rank):
    """Find the position of a slider on a log scale at which it shows a given number."""
    for position in range(int(slider(figure, name).get_attribute("max")) + 1):
        set_slider(figure, name, position)
        if slider(figure, name).get_attribute("aria-valuetext") == str(rank):
            return
    raise AssertionError(f"{name} cannot be {rank}")


@pytest.fixture
def small(alone):
    """A designer whose numbers can be done by hand: H = diag(1, 1/2, 1/100), eta = 1, n = 3, two parts on one axis each."""
    root = math.sqrt(3)
    parts = {"true labels": torch.tensor([root, 0, 0]), "random labels": torch.tensor([0, 0, root])}
    presets = {"one": Preset((1, 0, 0), (1, 1)), "both": Preset((1, 1, 0), (1, 3), torch.tensor([0.5, 0.3, 0.2]))}
    return alone(label_designer(torch.tensor([1, 0.5, 0.01]).double(), parts, 1.0, presets).data)


def test_two_orthogonal_parts_by_hand(small):
    # a^2 = (3/2, 0, 3/2): the first part is gone after one step, 0.99^(2k) is left of the second.
    assert small.readings() == pytest.approx({"half": 1, "path": math.sqrt(1.5 + 150), "measure": math.sqrt(101)})
    rows = small.rows()
    losses = {int(k): float(y) for panel, series, k, y in rows if series == "predicted"}
    assert all(loss == pytest.approx(0.25 * 0.99 ** (2 * k)) for k, loss in losses.items())
    assert [float(y) for panel, _, _, y in rows if panel.startswith("share")] == pytest.approx([0.5, 0, 0.5])
    trained = {int(k): float(y) for _, series, k, y in rows if series == "trained"}
    assert trained == pytest.approx({1: 0.3, 2: 0.2})


def test_only_ratios_of_weights_count(small):
    before = small.readings()
    for name in PARTS[:2]:
        set_slider(small, name, 30)
    assert small.readings() == pytest.approx(before)


def test_one_eigenvector_is_a_pure_exponential(small):
    for name, weight in zip(PARTS, (0, 0, 100), strict=True):
        set_slider(small, name, weight)
    for name in ("to number", "from number"):
        set_rank(small, name, 3)
    half = math.ceil(math.log(1 / 2) / math.log(0.99) / 2)
    assert small.readings() == pytest.approx({"half": half, "path": math.sqrt(300), "measure": math.sqrt(200)})
    assert half == 35


def test_the_order_of_the_two_numbers_does_not_matter(small):
    set_slider(small, "eigenvectors", 100)
    set_rank(small, "from number", 1)
    set_rank(small, "to number", 2)
    before = small.readings()
    set_rank(small, "from number", 2)
    set_rank(small, "to number", 1)
    assert small.readings() == before


def test_nothing_to_learn_is_said(small):
    for name in PARTS:
        set_slider(small, name, 0)
    assert "nothing to learn" in small.page.text_content(".hl-charts svg >> nth=0")
    assert all(math.isnan(number) for number in small.readings().values())
    small.page.get_by_role("button", name="one").click()
    assert small.readings()["half"] == 1


def test_trained_networks_are_shown_only_where_they_were_trained(small):
    circles, words = small.page.locator(".hl-label-designer circle"), small.page.locator(".hl-trained")
    assert circles.count() == 2 and words.is_visible()
    set_slider(small, "true labels", 99)
    assert circles.count() == 0 and not words.is_visible()
    small.page.get_by_role("button", name="both").click()
    assert circles.count() == 2 and small.page.get_by_role("button", name="both").get_attribute("aria-pressed") == "true"


def test_the_keyboard_is_enough(small):
    slider(small, "random labels").focus()
    small.page.keyboard.press("Home")
    assert small.readings()["path"] == pytest.approx(math.sqrt(3))
    small.page.keyboard.press("ArrowRight")
    assert slider(small, "random labels").input_value() == "1" and small.readings()["path"] > math.sqrt(3)
    small.page.get_by_role("button", name="both").focus()
    small.page.keyboard.press("Enter")
    assert small.readings()["measure"] == pytest.approx(math.sqrt(101))


@pytest.fixture(scope="module")
def problem():
    """The labels of the page, made again from its images and the settings of the run that the page names."""
    settings = dict(re.findall(r"(\w+) = ([^,<.]+)", re.search(r"Run at profile.*", (SITE / f"{NAME}.html").read_text())[0]))
    n, seed, top = (int(settings[name]) for name in ("n", "seed", "top"))
    X, true = two_class(settings["dataset"], n, seed)
    H = relu_gram(X)
    return H, oriented(spectrum(H), true), true, random_signs(n, seed), top


@pytest.mark.parametrize(
    ("weights", "band"),
    [((100, 0, 0), None), ((0, 100, 0), None), ((100, 35, 0), None), ((40, 20, 100), "top"), ((0, 0, 100), "worst")],
)
def test_the_browser_finds_what_python_finds_by_mixing_first(visited, problem, weights, band):
    H, eigen, true, signs, top = problem
    first, last = {"worst": (len(H), len(H))}.get(band, (1, top))
    parts = torch.stack([true, signs, eigenvector_labels(eigen.vectors, first, last)])
    y = coefficients(parts, torch.tensor(weights).double()) @ parts
    loss = iterated_residuals(H, y, 1 / eigen.values[0].item(), 5000).square().sum(1) / 2 / len(H)
    half = int((loss <= loss[0] / 2).nonzero()[0])
    length = inverse_norm(H, y).item()

    figure = visited(NAME)
    for name, weight in zip(PARTS, weights, strict=True):
        set_slider(figure, name, weight)
    for name, rank in (("from number", first), ("to number", last)):
        set_rank(figure, name, rank)
    expected = {"half": half, "path": length, "measure": length * (2 / len(H)) ** 0.5}
    assert figure.readings() == pytest.approx(expected, rel=1e-6)
    rows = figure.rows()
    predicted = [(int(k), float(value)) for _, series, k, value in rows if series == "predicted" and int(k) <= 5000]
    assert len(predicted) > 50
    assert all(value == pytest.approx(loss[k].item(), rel=1e-6, abs=1e-12) for k, value in predicted)
    shares = torch.tensor([float(value) for panel, _, _, value in rows if panel.startswith("share")]).double()
    assert torch.allclose(shares, (eigen.vectors.T @ y) ** 2 / len(H), atol=1e-8)
