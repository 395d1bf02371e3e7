"""One room per game; a room knows nothing of its siblings."""
