"""Slow second implementations of rule pages, for comparison with the engines."""
