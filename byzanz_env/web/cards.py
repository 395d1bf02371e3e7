"""The ladder (results of the arena) and the model cards, read from the files that come with the package."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from byzanz_env.agents.shipped import card_of
from byzanz_env.arena.ladder import BEGIN, END
from byzanz_env.opponents import SCRIPTED, SEARCHES, shipped

LADDER_FILE: Final = Path(__file__).resolve().parents[1] / "arena" / "README.md"
MAX_CARD_BYTES: Final = 100_000
ABOUT: Final = {
    "heuristic": "Weighs every option by what it makes of its hand; sells as late as it can and knows "
    "what it costs to feed the market.",
    "greedy": "Takes what is worth most at once and sells at the first chance.",
    "random": "Any legal action, each as likely as the others.",
    "montecarlo:64": "Plays out 64 re-dealt games per decision and takes the action that wins most.",
    "ismcts:200": "A tree search over re-dealt games, 200 iterations per decision.",
}


def ladder() -> dict[str, Any]:
    """The arena's ladder, one table for each number of players, all as text."""
    try:
        text = LADDER_FILE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    except OSError:
        text = ""
    rows: list[list[str]] = next((part["rows"] for part in markdown(text) if part["kind"] == "table"), [])
    if len(rows) < 2:
        return {
            "note": "No results come with this version. Measure your own: byzanz eval heuristic greedy",
            "tables": [],
        }
    tables: dict[str, list[list[str]]] = {}
    for row in rows[1:]:
        tables.setdefault(row[0], []).append(row[1:])
    return {
        "note": "Share of wins on duplicate deals, each played in every rotation of the seats; the command "
        "beside a row plays it again.",
        "tables": [
            {"title": f"{n} players", "columns": rows[0][1:], "rows": found} for n, found in tables.items()
        ],
    }


def model_cards() -> dict[str, Any]:
    """Every opponent on offer with what there is to know about it."""
    cards = [{"name": name, "paragraphs": markdown(_card_text(name))} for name in shipped()]
    cards += [
        {"name": name, "paragraphs": [{"kind": "text", "text": ABOUT[name]}]}
        for name in (*SCRIPTED, *SEARCHES)
    ]
    return {"cards": cards}


def _card_text(name: str) -> str:
    try:
        return card_of(name)[:MAX_CARD_BYTES]
    except OSError:
        return "This policy comes without a card."


def markdown(text: str) -> list[dict[str, Any]]:
    """The little of Markdown that cards use, as parts for the page; front matter is left out."""
    lines = text.splitlines()
    if lines[:1] == ["---"] and "---" in lines[1:]:
        lines = lines[lines.index("---", 1) + 1 :]
    parts: list[dict[str, Any]] = []
    block: list[str] = []
    fenced = False
    for line in [*lines, ""]:
        if line.startswith("```"):
            _close(parts, block, fenced)
            fenced = not fenced
        elif fenced or (line.strip() and not line.startswith("#")):
            block.append(line)
        else:
            _close(parts, block, fenced)
            if line.startswith("#"):
                parts.append({"kind": "heading", "text": _plain(line.lstrip("# "))})
    return parts


def _close(parts: list[dict[str, Any]], block: list[str], fenced: bool) -> None:
    if not block:
        return
    if fenced:
        parts.append({"kind": "code", "text": "\n".join(block)})
    elif all(line.startswith("|") for line in block):
        rows = [[_plain(cell) for cell in line.strip("|").split("|")] for line in block]
        rows = [row for row in rows if not all(set(cell) <= set("-: ") for cell in row)]
        parts.append({"kind": "table", "rows": rows})
    elif block[0].startswith(("- ", "* ")):
        items: list[str] = []
        for line in block:
            if line.startswith(("- ", "* ")):
                items.append(_plain(line[2:]))
            else:
                items[-1] += " " + _plain(line)
        parts.append({"kind": "list", "items": items})
    else:
        parts.append({"kind": "text", "text": _plain(" ".join(block))})
    block.clear()


def _plain(text: str) -> str:
    return text.replace("**", "").replace("`", "").strip()
