"""The arena: what a policy is worth, measured without luck.

Every deal is played in every rotation of the seats, all games are answered in batches, and every number
comes with an interval clustered by deal. `byzanz eval` is its door on the command line; README.md beside
this file says what the numbers mean.
"""
