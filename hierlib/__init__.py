"""hierlib: the objects of five papers on how networks learn by layers, as short, exact, fast PyTorch."""


def __getattr__(name: str) -> str:
    """`hierlib.__version__` as installed: this file, on which every page depends, stays as it is when the version moves."""
    if name == "__version__":
        from importlib.metadata import version

        return version("hierlib")
    raise AttributeError(f"module 'hierlib' has no attribute {name!r}")
