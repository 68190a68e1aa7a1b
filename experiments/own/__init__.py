"""Data of one's own: a table goes in, a classifier with a promise comes out, and it predicts new tables."""
