"""What several solvers share: kernels, Gram matrices, factorisations, settings, moments."""
