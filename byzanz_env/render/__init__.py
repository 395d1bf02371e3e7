"""Pictures of a table for people, as text and as an image, from what its eyes may know.

Both take a `view.Table`, which is made from observations alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from byzanz_env.games.byzanz.text import position_text
from byzanz_env.games.byzanz.view import Table


def write(table: Table, winners: Sequence[int] = ()) -> str:
    """The table as text of 80 columns, without colours."""
    return position_text(table, winners=winners)


def draw(table: Table, winners: Sequence[int] = ()) -> np.ndarray:
    """The table as an image [height, width, 3] uint8."""
    from byzanz_env.render.image import draw_table

    return draw_table(table, winners)
