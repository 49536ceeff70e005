"""Answers about prices: the ledger, its check, owning against renting."""
