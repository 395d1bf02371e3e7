"""`python -m byzanz_env.arena A B ...` is `byzanz eval A B ...`."""

import sys

from byzanz_env.arena.command import main

sys.exit(main())
