"""Writes a report to files: the form follows the name's ending; nothing is overwritten unasked."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path

from advisor.files import check_folder, write_all_whole
from advisor.planning.planned_grant import Planned
from advisor.planning.report.build_report import build_report
from advisor.planning.report.document import Report
from advisor.planning.report.formats.markdown_csv_json import to_csv_text, to_json_text, to_markdown
from advisor.planning.report.formats.pdf import to_pdf
from advisor.planning.report.formats.xlsx import to_xlsx
from advisor.typed_input import InputError, install_words, shown

PACKAGES = {
    ".pdf": ("matplotlib", "typst"),
    ".md": ("matplotlib",),
    ".xlsx": ("xlsxwriter",),
}
"""What each form is made with; the others need nothing."""
REPORT_PACKAGES = ("matplotlib", "typst", "xlsxwriter")
IN_PARTS = (".pdf", ".md")
"""Forms that the funder reads. They have pictures, and what the funder need not read is in an annex
beside them."""


def _csv(report: Report) -> bytes:
    # Excel takes a file for one of its own old alphabets unless a mark says that it is UTF-8.
    text = to_csv_text(report)
    return text.encode("utf-8" if text.isascii() else "utf-8-sig")


FORMS: dict[str, Callable[[Report], bytes]] = {
    ".md": lambda report: to_markdown(report).encode(),
    ".csv": _csv,
    ".json": lambda report: to_json_text(report).encode(),
    ".pdf": to_pdf,
    ".xlsx": to_xlsx,
}


def annex_of(path: Path) -> Path:
    """The file of a report's annex."""
    return path.with_name(f"{path.stem}-annex{path.suffix}")


def figures_of(path: Path) -> Path:
    """The folder of a Markdown report's pictures."""
    return path.with_name(f"{path.stem}-figures")


def check_targets(names: Sequence[str], *, force: bool) -> list[Path]:
    """The files to write; refused before any work where one cannot be. Raises InputError."""
    found = []
    for name in names:
        try:
            found.append(_check_target(Path(name), name, force=force))
        except OSError as error:
            raise InputError(
                f"{shown(name, 200)} cannot be written ({error.strerror or error}): name a file in "
                "a folder of yours"
            ) from None
    if len(set(found)) < len(found):
        raise InputError("the same report is named twice: name each file once")
    needed = {name for path in found for name in PACKAGES.get(path.suffix.lower(), ())}
    missing = sorted(name for name in needed if importlib.util.find_spec(name) is None)
    if missing:
        names, are = " and ".join(missing), "are" if len(missing) > 1 else "is"
        raise InputError(
            f"a report is drawn with {names}, which {are} not installed; {install_words('report')}"
        )
    return found


def _check_target(path: Path, name: str, *, force: bool) -> Path:
    """Raises InputError, and OSError where the system takes no such file."""
    ending, words = path.suffix.lower(), shown(name, 200)
    if ending not in FORMS:
        raise InputError(f"the report {words} has no known ending: write one of {', '.join(FORMS)}")
    if any(ord(letter) < ord(" ") for letter in name):
        raise InputError(f"{words} has a line break or tab in it: name another file")
    if path.is_dir():
        raise InputError(f"{words} is a folder: name a file in it")
    if path.exists() and not force:
        raise InputError(f"{words} is there already: name another, or add --force")
    if not path.absolute().parent.is_dir():
        raise InputError(
            f"the folder of {words} does not exist: make it first, or name a file in another folder"
        )
    check_folder(path)
    # Their names are longer, and the system may take no such name.
    for beside, what, endings in (
        (figures_of(path), "pictures", (".md",)),
        (annex_of(path), "annex", IN_PARTS),
    ):
        if ending in endings and beside.exists() and not force:
            raise InputError(
                f"{shown(str(beside), 200)}, for the report's {what}, is there already: name "
                "another report, or add --force"
            )
    return path


def write_report(report: Report, paths: Sequence[Path], *, force: bool) -> list[Path]:
    """All files whole or none; all are made before the first is written. What was written."""
    made = [file for path in paths for file in _files(report, path)]
    folders = dict.fromkeys(path.parent for path, _ in made)
    write_all_whole(made, overwrite=force, folders=folders)
    return [path for path, _ in made]


def _files(report: Report, path: Path) -> list[tuple[Path, bytes]]:
    """A report in one form: itself, its annex, and the pictures that Markdown links."""
    ending = path.suffix.lower()
    if ending not in IN_PARTS:
        return [(path, FORMS[ending](report))]
    funder, annex = report.parts()
    if ending == ".pdf":
        return [(path, to_pdf(funder)), (annex_of(path), to_pdf(annex))]
    folder, pictures = figures_of(path), report.pictures()
    text = to_markdown(annex, folder.name if pictures else None)
    made = [(path, to_markdown(funder).encode()), (annex_of(path), text.encode())]
    return made + [(folder / f"{p.name}.svg", p.svg.encode()) for p in pictures]


def write_planned(
    planned: Planned, names: Sequence[str], *, force: bool
) -> tuple[Report, list[Path]]:
    """The report of a plan, and the files that were written. Raises InputError and OSError."""
    assert planned.plan is not None and planned.explanation is not None
    paths = check_targets(names, force=force)
    pictured = any(path.suffix.lower() in IN_PARTS for path in paths)
    report = build_report(planned.loaded, planned.plan, planned.explanation, pictures=pictured)
    return report, write_report(report, paths, force=force)
