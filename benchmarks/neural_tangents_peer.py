"""The Gram matrix that `relu_gram` computes, by neural-tangents, once per line on stdin; used by benchmarks/kernels.py.

It needs an environment of its own (Python 3.11, numpy below 2):

    python -m venv peer && peer/bin/pip install neural-tangents==0.6.5 jax==0.4.26 jaxlib==0.4.26 "numpy<2" "scipy<1.13"
    HIERLIB_NEURAL_TANGENTS=peer/bin/python make bench

Only the hidden layer is trained, so the kernel is the NTK of Dense-ReLU-Dense minus the part of the output layer, which is
its NNGP kernel; both come out of one call.
"""

import os
import sys

import numpy as np
from jax import jit
from neural_tangents import stax

n, d, threads = map(int, sys.argv[1:4])
# XLA counts the cores that it may use, whatever OMP_NUM_THREADS says; it does so at the first computation.
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
rng = np.random.default_rng(0)
X = rng.standard_normal((n, d)).astype(np.float32)
X /= np.linalg.norm(X, axis=1, keepdims=True)
_, _, kernel = stax.serial(stax.Dense(1, W_std=d**0.5), stax.Relu(), stax.Dense(1))


@jit
def gram(X: np.ndarray) -> np.ndarray:
    both = kernel(X, None, ("nngp", "ntk"))
    return both.ntk - both.nngp


def slow(X: np.ndarray) -> np.ndarray:
    cosine = np.clip(X @ X.T, -1, 1)
    return cosine * (np.pi - np.arccos(cosine)) / (2 * np.pi)


few = np.asarray(gram(X[:50]))
scale = few[0, 1] / slow(X[:50])[0, 1]
assert np.allclose(few[0, 1:], scale * slow(X[:50])[0, 1:], rtol=1e-3), "not the same kernel up to its normalisation"
for _ in sys.stdin:
    gram(X).block_until_ready()
    print("done", flush=True)
