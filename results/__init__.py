"""The reference results: one folder per config."""
