"""Measures how long a training recipe takes on this machine; prints records as JSON lines."""
