"""Byzanz: rules, engine, actions, observation, text and bots of this one game."""
