"""The verbs of the program `byzanz`, one module each."""
