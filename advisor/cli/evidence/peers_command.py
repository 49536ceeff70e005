"""``advisor peers``: which hardware other academics have, beside your own."""

from __future__ import annotations

import argparse

from advisor.cli.command import ANSWERED, add_format, open_store, terminal_width
from advisor.tables.plain_values import fill

add_arguments = add_format


def run(options: argparse.Namespace) -> int:
    """Print the survey; as a table with your own machines below. Raises StoreError."""
    from advisor.answers.paper.peers import COLUMNS, SURVEY, peers, peers_sentence, share_words

    found = peers()
    if options.format != "table":
        from advisor.tables.table_formats import render_rows

        print(render_rows(found, options.format, COLUMNS))
        return ANSWERED
    with open_store(options).reading() as reader:
        own = [host.name for host in reader.hosts() if host.kind == "owned"]
    width = terminal_width()
    lines = [fill(peers_sentence(found), width), "", fill(SURVEY, width)]
    topic = ""
    for peer in found:
        if peer["topic"] != topic:
            topic = str(peer["topic"])
            lines += ["", topic]
        words = f"  {share_words(peer)} ({peer['where']})"
        lines.append(fill(words, width, subsequent_indent="    "))
    lines += ["", "Yours"]
    lines += [f"  {words}" for words in own] or [
        '  none known; to add them: advisor prices own "2 x A6000"'
    ]
    print("\n".join(lines))
    return ANSWERED
