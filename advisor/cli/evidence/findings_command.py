"""``advisor findings``: what the paper concludes, computed again, beside what it says."""

from __future__ import annotations

import argparse

from advisor.cli.command import ANSWERED, add_format, open_store, terminal_width

add_arguments = add_format


def run(options: argparse.Namespace) -> int:
    """Compute and print them. Raises StoreError."""
    from advisor.answers.paper.findings import find, findings_text
    from advisor.tables.table_formats import render_rows

    with open_store(options).reading() as reader:
        found = find(reader)
    if options.format == "table":
        print(findings_text(found, terminal_width()))
    else:
        print(render_rows([finding._asdict() for finding in found], options.format))
    return ANSWERED
