"""Arc-cosine functions, the limits of wide networks, finite networks, the Walsh basis, spectra, ridge regression."""
