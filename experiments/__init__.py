"""From a config to a table: config -> plan -> run -> store -> tables."""
