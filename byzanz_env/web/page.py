"""The page as files in memory, and a finished game as one HTML file that needs nothing else."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any, Final

from byzanz_env.replay import Replay
from byzanz_env.storyboard import document

FOLDER: Final = Path(__file__).resolve().parent / "static"
TYPES: Final = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
STATIC: Final = {
    path.name: (TYPES[path.suffix], path.read_bytes())
    for path in sorted(FOLDER.iterdir())
    if path.suffix in TYPES
}
STORY_MODULES: Final = ("dom.js", "art.js", "board.js", "chart.js", "story.js", "standalone.js")
ALONE_POLICY: Final = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
)
_IMPORT: Final = re.compile(r"^import\s[^;]*;\n", re.MULTILINE)
_EXPORT: Final = re.compile(r"^export (?=(?:async )?function|const|let|class)", re.MULTILINE)


def _read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def index_page(secret: str) -> str:
    """The page, with the drawings and the secret of this server in it."""
    page = _read("index.html").replace("<!--ART-->", _read("art.svg"))
    return page.replace("SECRET", html.escape(secret, quote=True))


def bundled_modules() -> str:
    """The modules that show a finished game as one script: their imports of each other fall away."""
    parts = []
    for name in STORY_MODULES:
        source = _EXPORT.sub("", _IMPORT.sub("", _read(name)))
        parts.append(f"// {name}\n{source}")
    return "\n".join(parts)


def self_contained(replay: Replay, judged: dict[str, Any] | None = None) -> str:
    """One page that shows a finished game, with nothing to load."""
    story = json.dumps(document(replay, judged), separators=(",", ":")).replace("<", "\\u003c")
    page = _read("standalone.html").replace("<!--ART-->", _read("art.svg"))
    page = page.replace("POLICY", ALONE_POLICY).replace("/*STYLE*/", _read("style.css"))
    return page.replace("/*SCRIPT*/", bundled_modules()).replace("STORY", story)  # its words come last
