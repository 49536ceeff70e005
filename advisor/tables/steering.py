"""Text in which nothing moves the cursor, turns the line round or hides."""

from __future__ import annotations

import json
import re

_STEERS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
)
"""Control and direction characters, and letters that are not shown; tab and line feed are none."""
_STEERING_BYTES = bytes(code for code in range(128) if _STEERS.match(chr(code)))
_LONG = 100_000
"""From so many characters on it is worth asking first, in one pass, whether anything is wrong."""


def harmless(text: str) -> str:
    """Text in which nothing moves the cursor, turns the line round or hides."""
    if len(text) > _LONG and text.isascii():
        pieces = (text[at : at + _LONG].encode("ascii") for at in range(0, len(text), _LONG))
        if all(len(raw.translate(None, _STEERING_BYTES)) == len(raw) for raw in pieces):
            return text
    return _STEERS.sub("?", text)


def json_escaped(text: str) -> str:
    """JSON in which all of that is written as its own escapes."""
    if text.isascii() and "\x7f" not in text:  # JSON itself escapes the other control characters
        return text
    return _STEERS.sub(lambda found: json.dumps(found[0])[1:-1], text)
