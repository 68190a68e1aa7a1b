"""A study that is quick, has infeasible trials, and is drawn anew for every repetition."""

STUDY = """\
title: small
seed: 3
datasets:
  two_norm: {options: {n_pos: 40, n_neg: 50}}
split: {kind: stratified-kfold, folds: 3, repetitions: 8, redraw: true}
methods:
  L: {method: error-rate}
  NL: {method: error-rate, kernel: rbf, gamma: 1.0}
grid:
  - {eta_pos: 0.9, eta_neg: 0.5}
  - {eta_pos: 0.5, eta_neg: 0.5}
  - {eta_pos: 0.05, eta_neg: 0.05}
table: {rows: [eta_pos], columns: [method]}
"""
