"""Measures how long a training recipe takes on this machine; prints records as JSON lines."""

import os as _os
import sys as _sys

if _sys.argv[:1] == ["-m"]:
    # ``python -m bench_runner`` looks for this package now, and would then import whatever lies in
    # the folder one stands in: that is no code of ours, but where somebody named it.
    _named = [*_os.environ.get("PYTHONPATH", "").split(_os.pathsep)]
    _named.append(_os.path.dirname(_os.path.dirname(_os.path.abspath(__file__))))
    if not _sys.flags.safe_path and _sys.path[:1] and _sys.path[0] not in _named:
        del _sys.path[0]
