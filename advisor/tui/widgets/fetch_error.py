"""What went wrong while a screen fetched its data."""

from __future__ import annotations


class StoreReaderError(Exception):
    """The store could not be read; the message is one line with how to mend it."""
