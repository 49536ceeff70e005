"""`advisor predict` as tests call it: of one fit and one store."""

from __future__ import annotations

import argparse

from advisor.cli.choose import predict_command as command
from advisor.prediction.fitted import Fitted
from advisor.store import Store

STORES: list[Store] = []
"""The one that is asked (`asks_the_shipped_store`)."""


def call(fitted: Fitted, *words: str) -> int:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    options = parser.parse_args(words)
    options.typed = ["predict", *words]
    return command.run_with(options, lambda: fitted, STORES[0])
