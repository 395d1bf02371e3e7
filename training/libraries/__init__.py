"""One short script per RL library: each trains for about a minute, evaluates, and exports where it can."""
