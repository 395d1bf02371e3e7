"""The web page: play, watch, replay and analyse in a browser; see README.md beside this file."""
