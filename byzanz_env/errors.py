"""Errors of the house."""

from __future__ import annotations


class IllegalActionError(ValueError):
    """An action that the rules, or the types of the interface, do not allow now; the game is unchanged."""
