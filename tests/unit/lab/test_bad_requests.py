"""A mistake on the command line: exit code 2, one sentence that names it and the choices, and nothing written."""

import socket
import time

import pytest

MISTAKES = {
    "an unknown claim": ("run toy/thm2", "there is no claim 'toy/thm2'; did you mean 'toy/thm1'?"),
    "a claim unlike all others": ("run zzz", "there is no claim 'zzz'; the claims are toy/squares, toy, toy/thm1, toy/fig2"),
    "a claim without page": ("run toy/fig2", "no page tests toy/fig2 yet; `hier new toy/fig2` starts one"),
    "a claim to show": ("show toy/thm11", "there is no claim 'toy/thm11'; did you mean 'toy/thm1'?"),
    "a paper to list": ("list toi", "there is no paper 'toi'; did you mean 'toy'?"),
    "an unknown parameter": ("run -p scal=1", "there is no parameter 'scal'; did you mean 'scale'?"),
    "a parameter unlike all others": ("run -p zzz=1", "'zzz'; the parameters are seed, n, scale, widths, rule"),
    "no equals sign": ("run -p n", "-p n: write name=value"),
    "a word for a number": ("run -p n=many", "n must be of type int, got 'many'"),
    "a fraction for a count": ("run -p n=1.5", "n must be of type int, got 1.5"),
    "a number for a list": ("run -p widths=4", "widths must be of type list, got 4"),
    "a wrong type in a list": ("run -p widths=[4,'a']", "widths must be a list of int, got [4, 'a']"),
    "no literal at all": ("run -p n={[]:1}", "n must be of type int, got '{[]:1}'"),
    "a count too large": ("run -p n=101", "n = 101 is out of range; allowed is [1..100]"),
    "a fraction too large": ("run -p scale=2.6", "scale = 2.6 is out of range; allowed is [0..2.5]"),
    "not a number": ("run -p scale=nan", "scale must be of type float, got 'nan'"),
    "a list element too small": ("run -p widths=[4,0]", "widths = 0 is out of range; allowed is [1..64]"),
    "a word that is no choice": ("run -p rule=max", "rule = 'max' is out of range; allowed is [sum|mean]"),
    "a number too deep": ("run -p n=" + 5000 * "-" + "1", "n must be of type int, got '" + 40 * "-" + "...'"),
    "a parameter given twice": ("run -p n=5 -p n=6", "-p n=6: n is given twice"),
    "a seed given twice": ("run -p seed=3 --seed 4", "-p seed=4: seed is given twice"),
    "a negative seed": ("run --seed -1", "seed = -1 is out of range; allowed is [0..]"),
    "a word for a seed": ("run --seed one", "Invalid value for '--seed'"),
    "an unknown profile": ("run --profile smoek", "there is no profile 'smoek'; the profiles are smoke, quick, long, paper"),
    "an unknown device": ("run --device tpu", "there is no device 'tpu'; the devices are cpu, cuda"),
    "an unknown command": ("rnu", "No such command 'rnu'. Did you mean 'run'?"),
    "a profile that the page has not": (
        "run toy/squares --profile long",
        "toy/squares has no profile 'long'; its profiles are smoke, quick, paper",
    ),
    "an unknown option": ("run --prof smoke", "No such option: --prof (Possible options: --profile)"),
    "no page at a time": ("run --jobs 0", "Invalid value for '--jobs'"),
    "an unknown data set": ("data nonsense", "'nonsense'; the sets are digits, mnist, cifar10, cifar100"),
    "too few seeds": ("accept --seeds 0,1", "--seeds 0,1: a tolerance needs at least five seeds"),
    "seeds that are no numbers": ("accept --seeds 0,1,2,3,x", "write whole numbers with commas, for example 3,4,5,6,7,8"),
    "an unknown claim for a page": ("new toy/fig3", "there is no claim 'toy/fig3'; did you mean 'toy/fig2'?"),
    "a book without contents": ("book", "there is no _toc.yml in the book's folder"),
    "a page that exists": ("new toy/thm1", "toy/thm1 has a page already: notebooks/toy/squares.md"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_answered_with_one_sentence(pristine, refused, mistake):
    command, sentence = MISTAKES[mistake]
    assert sentence in refused(pristine, *command.split(" "), within=True)


@pytest.mark.parametrize("mistake", ["an unknown claim", "a count too large", "an unknown option"])
def test_the_installed_command_answers_in_the_same_way(pristine, refused, mistake):
    command, sentence = MISTAKES[mistake]
    assert sentence in refused(pristine, *command.split(" "))


def test_cuda_without_a_gpu_is_refused(pristine, refused):
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    assert "torch sees no GPU on this machine" in refused(pristine, "run", "--device", "cuda")


def test_outside_a_project_is_refused(pristine, refused, tmp_path):
    assert "this is not inside the book's folder" in refused(pristine, "list", cwd=tmp_path)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense"])
def test_a_scheduler_that_does_not_answer_is_named(pristine, refused, address):
    assert f"no Dask scheduler answers at {address}; start one" in refused(pristine, "run", "--scheduler", address)


def test_a_server_that_is_no_scheduler_does_not_hang_the_command(pristine, refused, silent_server):
    started = time.monotonic()
    assert f"no Dask scheduler answers at {silent_server}" in refused(pristine, "run", "--scheduler", silent_server)
    assert time.monotonic() - started < 20, "five seconds are given to the scheduler, the rest is a busy machine"


@pytest.fixture
def silent_server():
    """A port that accepts and never says a word."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield f"tcp://127.0.0.1:{server.getsockname()[1]}"
