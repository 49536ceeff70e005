"""A text field on one line, whose text is judged by the session and not by validators."""

from __future__ import annotations

from typing import ClassVar

from textual.validation import ValidationResult
from textual.widgets import Input


class Field(Input):
    """An input that is compact from its start, so that it is styled once and not four times."""

    DEFAULT_CLASSES: ClassVar[str] = "-textual-compact"

    def validate(self, value: str) -> ValidationResult | None:
        """Nothing to do: what is wrong with a text depends on the other fields too."""
        return None
