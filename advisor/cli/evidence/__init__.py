"""The evidence: shown, brought in, written out."""
