"""What machine this is, for reports and for runs that go on elsewhere."""

from __future__ import annotations

import platform
from pathlib import Path


def processor() -> str:
    """The name of the processor, as the system tells it."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown processor"
