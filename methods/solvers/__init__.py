"""The solvers: one module, one algorithm, one public function ``solve(problem, *, …)``."""
