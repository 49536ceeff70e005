"""A text field on one line, whose text is judged by the session and not by validators."""

from __future__ import annotations

from textual.validation import ValidationResult
from textual.widgets import Input


class Field(Input):
    """An input without a frame, by style: Input's own ``compact`` would style it once more."""

    DEFAULT_CSS = """
    Field { border: none !important; height: 1; padding: 0; background: $foreground 10%; }
    Field:focus { background: $foreground 22%; }
    Field:ansi { text-style: underline; }
    """

    def validate(self, value: str) -> ValidationResult | None:
        """Nothing to do: what is wrong with a text depends on the other fields too."""
        return None
