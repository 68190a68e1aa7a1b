"""The worked example of a plugin for mmc. Its entry points are in pyproject.toml; nothing is imported before it is used."""
