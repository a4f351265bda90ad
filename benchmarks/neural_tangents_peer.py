"""Gram matrices by neural-tangents, once per line on stdin: `neural_tangents_peer.py THREADS KERNEL SIZE ...`.

It needs an environment of its own (Python 3.11, numpy below 2):

    python -m venv peer && peer/bin/pip install neural-tangents==0.6.5 jax==0.4.26 jaxlib==0.4.26 "numpy<2" "scipy<1.13"
    HIERLIB_NEURAL_TANGENTS=peer/bin/python make bench
"""

import os
import sys
from collections.abc import Callable

import jax
import jax.numpy as jnp
import neural_tangents as nt
import numpy as np
from neural_tangents import stax

Gram = Callable[[], np.ndarray]


def relu(n: int, d: int) -> Gram:
    """What `relu_gram` computes.

    Only the hidden layer is trained, so the kernel is the NTK of Dense-ReLU-Dense minus the part of the output layer,
    which is its NNGP kernel; both come out of one call.
    """
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)).astype(np.float32)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    _, _, kernel = stax.serial(stax.Dense(1, W_std=d**0.5), stax.Relu(), stax.Dense(1))

    @jax.jit
    def gram(X: np.ndarray) -> np.ndarray:
        both = kernel(X, None, ("nngp", "ntk"))
        return both.ntk - both.nngp

    few, cosine = np.asarray(gram(X[:50])), np.clip(X[:50] @ X[:50].T, -1, 1)
    slow = cosine * (np.pi - np.arccos(cosine)) / (2 * np.pi)
    scale = few[0, 1] / slow[0, 1]
    assert np.allclose(few[0, 1:], scale * slow[0, 1:], rtol=1e-3), "not the same kernel up to its normalisation"
    return lambda: gram(X)


def recurrent(n: int, L: int, m: int, d: int) -> Gram:
    """What `finite_gram` of a recurrent network computes, by the fastest of the peer's three ways.

    The other two: products of the kernel with vectors take 15 s for 40 sequences where this one takes 10 s, and grow like
    their square; structured derivatives fail with this jax, and with jax 0.4.20 take three times as long.
    """
    rng = np.random.default_rng(0)
    W, A, M = (rng.standard_normal(shape).astype(np.float32) * (2 / m) ** 0.5 for shape in ((m, m), (m, d), (m,)))
    B, X = (rng.standard_normal(shape).astype(np.float32) for shape in ((m, 1), (n, L, d)))
    A, X = A * L**-1.5, X / np.linalg.norm(X, axis=2, keepdims=True)

    def outputs(W: np.ndarray, X: np.ndarray) -> np.ndarray:
        h = jnp.broadcast_to(jnp.maximum(M, 0), (len(X), m))
        for t in range(L):
            h = jax.nn.relu(h @ W.T + X[:, t] @ A.T)
        return h @ B

    way = nt.NtkImplementation.JACOBIAN_CONTRACTION
    gram = jax.jit(nt.empirical_ntk_fn(outputs, trace_axes=(-1,), vmap_axes=0, implementation=way))
    J = jax.jacrev(outputs)(W, X[:3]).reshape(3, -1)
    assert np.allclose(gram(X[:3], None, W), J @ J.T, rtol=1e-3), "not the kernel that was meant"
    return lambda: gram(X, None, W)


threads, kernel, *sizes = sys.argv[1:]
# XLA counts the cores that it may use, whatever OMP_NUM_THREADS says; it does so at the first computation.
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(threads)])
compute = {"relu": relu, "recurrent": recurrent}[kernel](*map(int, sizes))
for _ in sys.stdin:
    compute().block_until_ready()
    print("done", flush=True)
