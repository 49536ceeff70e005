"""What a terminal sends need not be UTF-8: a Latin-1 keyboard's é, an eighth bit for Alt, a paste.

Textual decodes it strictly, in a thread whose error ends the program.
"""

from __future__ import annotations

import codecs
import sys
from collections.abc import Callable
from functools import partial

from textual.driver import Driver


def taking_any_bytes(driver: type[Driver]) -> type[Driver]:
    """The driver, whose decoder shows a byte that is no UTF-8 as a replacement character."""
    module = sys.modules[driver.__module__]
    if hasattr(module, "getincrementaldecoder"):
        vars(module)["getincrementaldecoder"] = _lenient
    return driver


def _lenient(encoding: str) -> Callable[[], codecs.IncrementalDecoder]:
    return partial(codecs.getincrementaldecoder(encoding), errors="replace")
