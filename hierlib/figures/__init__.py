"""One style for all figures, the plotted data beside them, and the shell of interactive figures."""
