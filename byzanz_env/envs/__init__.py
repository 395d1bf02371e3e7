"""Doors to the games: one for PettingZoo, one for many games at once, one for Gymnasium.

A door converts, it never decides: every rule is in the engine.
"""
