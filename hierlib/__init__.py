"""hierlib: the objects of five papers on how networks learn by layers, as short, exact, fast PyTorch."""

__version__ = "0.1.0"
