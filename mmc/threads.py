"""One thread for each numerical library. They read their variables when they are loaded: say it before."""

_LIBRARIES = ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM", "NUMBA", "NUMEXPR")
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in _LIBRARIES}
