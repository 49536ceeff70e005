"""A page that closes itself, and nothing else."""

from __future__ import annotations

from typing import Any

from textual.await_complete import AwaitComplete


class ClosedOnce:
    """Put before a screen's class. Keys may come faster than a page closes: the second closing one
    would find it gone, and Textual would close whatever lies on top, or the last screen of all."""

    def dismiss(self, result: Any = None) -> AwaitComplete:
        """Close with a result, where this page is still the one on top."""
        if self.app.screen_stack[-1:] != [self]:  # type: ignore[attr-defined]
            return AwaitComplete()
        closed: AwaitComplete = super().dismiss(result)  # type: ignore[misc]
        return closed
