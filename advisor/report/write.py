"""Writes a report to files: the form follows the name's ending; nothing is overwritten unasked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from advisor.parse import InputError, shown
from advisor.report.model import Report

EXTRA = 'reports need more packages: pip install "gpu-grant-advisor[report]"'


def _text(name: str) -> Callable[[Report], bytes]:
    def make(report: Report) -> bytes:
        from advisor.report import text

        made: str = getattr(text, name)(report)
        return made.encode()

    return make


def _html(report: Report) -> bytes:
    from advisor.report.html import to_html

    return to_html(report).encode()


def _pdf(report: Report) -> bytes:
    from advisor.report.pdf import to_pdf

    return to_pdf(report)


def _xlsx(report: Report) -> bytes:
    from advisor.report.xlsx import to_xlsx

    return to_xlsx(report)


FORMS: dict[str, Callable[[Report], bytes]] = {
    ".md": _text("to_markdown"),
    ".csv": _text("to_csv_text"),
    ".json": _text("to_json_text"),
    ".html": _html,
    ".pdf": _pdf,
    ".xlsx": _xlsx,
}
PICTURED = (".html", ".pdf")
"""The forms that hold pictures."""


def check_targets(names: Sequence[str], *, force: bool) -> list[Path]:
    """The files to write; refused before any work where one cannot be. Raises InputError."""
    found = []
    for name in names:
        path = Path(name)
        if path.suffix.lower() not in FORMS:
            raise InputError(
                f"the report {shown(name, 200)} has no known ending: "
                f"write one of {', '.join(FORMS)}"
            )
        if path.is_dir():
            raise InputError(f"{shown(name, 200)} is a folder: name a file in it")
        if path.exists() and not force:
            raise InputError(f"{shown(name, 200)} is there already: name another, or add --force")
        if not path.absolute().parent.is_dir():
            raise InputError(f"the folder of {shown(name, 200)} does not exist: make it first")
        found.append(path)
    if len(set(found)) < len(found):
        raise InputError("the same report is named twice: name each file once")
    return found


def write_report(report: Report, paths: Sequence[Path], *, force: bool) -> None:
    """Each file whole or not at all; all are made before the first is written."""
    from advisor.export import write_whole

    try:
        made = [(path, FORMS[path.suffix.lower()](report)) for path in paths]
    except ModuleNotFoundError as error:
        raise InputError(f"{error.name} is not installed: {EXTRA}") from None
    for path, content in made:
        write_whole(path, content, overwrite=force)
