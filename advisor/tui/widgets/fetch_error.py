"""What went wrong while something that is to be shown was fetched."""

from __future__ import annotations


class FetchError(Exception):
    """It could not be fetched; the message is one line with how to mend it."""
