"""Smaller things that others' names, links and terminals can do."""

from __future__ import annotations

import csv
import io
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import zipfile
from datetime import date
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from advisor import files
from advisor.cli.main import main
from advisor.store import StoreError, build_store
from advisor.store.rows import insert_missing, plain_values
from advisor.store.storage.connection import opened
from advisor.tables.table_formats import markdown_text, to_markdown
from price_catalog.model import Quote

EVIL = [
    "<script>alert(1)</script>",
    "![x](http://elsewhere.example/pixel.png)",
    "[click](javascript:alert(1))",
    "a | b\n# heading",
    "<img src=x onerror=alert(1)>",
    "&lt;script&gt;",
    "`code` *bold* ~~gone~~",
    "https://elsewhere.example/a_b www.elsewhere.example x.example //x.example",
    "mailto:a_b.c@elsewhere.example `d@elsewhere.example` user:e@elsewhere.example/",
    "$x$ \\(y\\) $$z$$",
]
READER = MarkdownIt("gfm-like")
"""Which makes links of bare addresses, as GitHub does."""


@pytest.mark.parametrize("text", EVIL)
def test_names_are_no_markdown(text: str) -> None:
    shown = markdown_text(text)
    assert "<" not in shown
    assert "\n" not in shown
    for mark in "[]|*~#":
        assert not re.search(rf"(?<!\\)(?:\\\\)*{re.escape(mark)}", shown), shown
    assert to_markdown([{"a": text}], ["a"]).count("\n") == 3
    assert "$" not in shown.replace("\\$", "")
    assert "<a" not in READER.render(shown)


def test_no_form_of_a_report_holds_what_its_names_would_do() -> None:
    from advisor.planning.report.document import Report, ReportTable, Section
    from advisor.planning.report.formats import markdown_csv_json
    from advisor.planning.report.formats.pdf import to_typst
    from advisor.planning.report.formats.xlsx import to_xlsx

    evil = (
        *EVIL,
        '=HYPERLINK("http://x","y")',
        "@SUM(1)",
        '#eval("1") $x$ \\u{41}',
        "<javascript:x>",
    )
    names = tuple(" ".join(text.split()) for text in evil)
    blocks = (
        " ".join(names),
        names,
        ReportTable(name="Budget", columns=names, rows=(names,)),
    )
    section = Section(title="Request", blocks=blocks)
    report = Report(title=names[0], made_on=date(2026, 11, 22), sections=(section,), rows=())
    tags: list[str] = []

    class Tags(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            tags.extend([tag, *(name for name, _ in attrs)])

    Tags().feed(READER.render(markdown_csv_json.to_markdown(report)))
    assert "td" in tags
    assert not {"script", "img", "a", "href", "src", "onerror"} & set(tags)
    for row in csv.reader(markdown_csv_json.to_csv_text(report).splitlines()):
        assert not any(cell.startswith(("=", "@")) for cell in row)
    with zipfile.ZipFile(io.BytesIO(to_xlsx(report))) as book:
        sheets = [book.read(name) for name in book.namelist() if "worksheets/" in name]
    assert sheets and not any(b"<f>" in sheet or b"<hyperlink" in sheet for sheet in sheets)
    # Outside its texts Typst has no name of theirs.
    code = re.sub(r'"(?:[^"\\]|\\.)*"', "", to_typst(report))
    assert "#eval" not in code and "javascript" not in code and "alert" not in code


def run_cells(text: str) -> list[str]:
    """The cells of a CSV that a spreadsheet would run, whatever it parts them at."""
    found = []
    for mark in ",;\t|":
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=mark):
            found += [cell for cell in row if cell.strip(' \t\u00a0"')[:1] in tuple("=+-@")]
    return [cell for cell in found if cell and not re.fullmatch(r"[-+]?[\d.,]+", cell)]


def test_no_cell_of_any_csv_is_run(
    own_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evil = ('=HYPERLINK("http://x")', "a;@SUM(1)", "b\t+1", "c; =1", "-2+3", "|=1")
    kept = Quote(
        quote_id="q", item_kind="gpu", item_id="rtx-5090", price_usd=Decimal(1900), kind="street",
        vendor="", quoted_on=date(2026, 11, 1), source_id="own", url=None, note=None,
        price_set=None, origin="local",
    )  # fmt: skip
    quotes = [
        kept._replace(quote_id=f"q{n};=1", vendor=text.replace("\t", ";"), note=text)
        for n, text in enumerate(evil)
    ]
    with opened(own_store, write=True, wait_s=5) as connection:  # as another program wrote it
        insert_missing(connection, "quote", list(map(plain_values, quotes)), "local")
    theirs = Path(shutil.copy(own_store, tmp_path / "theirs.duckdb"))
    with opened(own_store, write=True, wait_s=5) as connection:
        connection.execute("UPDATE quote SET quote_id = quote_id || '+' WHERE origin = 'local'")
    grant = tmp_path / "grant.toml"
    assert main(["plan", "--example"]) == 0
    name = re.compile(r'^name = "', re.MULTILINE)
    grant.write_text(name.sub('name = "a;=1+', capsys.readouterr().out))
    csvs = [
        *(["data", table] for table in ("prices", "models", "times", "gpus", "sources")),
        ["prices", "list"],
        ["prices", "check"],
        ["rank", "--model", "pythia-1b", "--budget", "40k"],
        ["plan", str(grant), "--quick"],
        ["merge", "--check", "--mine", str(theirs)],
    ]
    for words in csvs:
        main([*words, "--format", "csv", "--store", str(own_store)])
        out, err = capsys.readouterr()
        assert out.count("\n") > 1 and run_cells(out) == [], (words, err)


def test_a_dangling_link_is_no_place_for_a_store(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    link = tmp_path / "results.duckdb"
    link.symlink_to(tmp_path / "gone" / "results.duckdb")
    assert main(["rebuild", "--store", str(link)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "is a link to" in said.err
    assert link.is_symlink()


@pytest.mark.parametrize("words", [["rank", "--model", "vit", "--budget", "9k"], ["rebuild"]])
def test_a_store_whose_name_is_not_utf8_is_one_line(
    store_path: Path, tmp_path: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    name = os.fsdecode(bytes(tmp_path) + b"/\xff.duckdb")
    if words[0] == "rank":
        Path(name).write_bytes(store_path.read_bytes())
    assert main([*words, "--store", name]) == 2
    said = capsys.readouterr().err
    assert "not UTF-8" in said
    assert said.count("\n") == 1
    with pytest.raises(StoreError):
        build_store(name)


@pytest.mark.parametrize("disk", ["full", "read-only"])
def test_an_error_names_the_file_and_never_its_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, disk: str
) -> None:
    def refused(*asked: object, **_: object) -> None:
        raise OSError(28 if disk == "full" else 30, disk, str(asked[0]))

    if disk == "full":
        monkeypatch.setattr(files.os, "fsync", refused)
    else:
        monkeypatch.setattr(files, "open", refused, raising=False)
        monkeypatch.setattr(Path, "unlink", refused)  # there even of what is not there
    with pytest.raises(OSError, match=disk) as caught:
        files.write_whole(tmp_path / "a.csv", "a", overwrite=False)
    assert caught.value.filename == str(tmp_path / "a.csv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal as Unix has them")
@pytest.mark.parametrize("name", ["dumb", "unknown"])
def test_a_terminal_that_cannot_draw_is_told_so_at_once(name: str, store_path: Path) -> None:
    child, terminal = pty.fork()
    if child == 0:
        os.environ["TERM"] = name
        os.execv(sys.executable, [sys.executable, "-m", "advisor", "--store", str(store_path)])
    said = b""
    while True:
        try:
            said += os.read(terminal, 4096)
        except OSError:
            break
        if b"\x1b" in said:  # it draws, and would not end
            os.kill(child, signal.SIGKILL)
            break
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2
    assert f"TERM={name}".encode() in said
    assert b"\x1b" not in said
    os.close(terminal)


@pytest.mark.parametrize(
    ("shell", "said"),
    [
        ("2>&-", b""),  # not on stdout in its place
        ("<&- 2>&-", b""),
        ("<&- >&- 2>&-", b""),
        ("<&-", b""),
        ("<&- 2>&1", b"advisor: model"),
    ],
)
def test_closed_streams_are_neither_answered_into_nor_given_to_the_store(
    store_path: Path, shell: str, said: bytes
) -> None:
    line = f"exec advisor --store {store_path} predict --model nope --gpu H100 {shell}"
    run = subprocess.run(["bash", "-c", line], env=_found(), stdout=subprocess.PIPE, timeout=60)
    assert run.returncode == 2
    assert run.stdout[: len(said) or None] == said


@pytest.mark.parametrize(
    ("words", "out"),
    [("peers", ">&-"), ("paths", ">/dev/full"), ("rank --help", ">/dev/full"), ("--help", ">&-")],
)
def test_an_answer_that_nobody_can_read_fails_in_one_line(
    store_path: Path, words: str, out: str
) -> None:
    line = f"exec advisor {words} {out}"
    # Not this person's own store, which may be brought up to date, and say so, meanwhile.
    own = {**_found(), "ADVISOR_STORE": str(store_path)}
    run = subprocess.run(["bash", "-c", line], env=own, capture_output=True, timeout=60)
    said = run.stderr.decode()
    assert run.returncode == 2
    assert said.startswith("advisor: ") and said.count("\n") == 1


def test_a_number_of_5000_digits_is_refused_in_our_words(
    store_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "big.toml"
    path.write_text("x = 1\ny = " + "9" * 5000)
    for words in (["predict", "--gpu", "H100", "--model"], ["plan"], ["bench", "--model"]):
        assert main([*words, str(path), "--store", str(store_path)]) == 2
        said = capsys.readouterr().err
        assert "big.toml has a number too long to be one in line 2: correct it" in said
        assert said.count("\n") == 1


def test_a_full_disk_names_the_store_and_never_its_draft(tmp_path: Path) -> None:
    line = f"ulimit -f 100; exec advisor rebuild --store {tmp_path}/new.duckdb"
    run = subprocess.run(["bash", "-c", line], env=_found(), capture_output=True, timeout=120)
    said = run.stderr.decode()
    assert (run.returncode, run.stdout) == (2, b"")
    assert f"the store {tmp_path}/new.duckdb could not be written" in said
    assert "/.new" not in said and said.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def _found() -> dict[str, str]:
    tools = str(Path(sys.executable).parent)
    return {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}


def test_what_a_message_says_to_type_is_safe_to_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # The folder came in an archive; its name is a command for whoever copies the line.
    folder = tmp_path / "it's; touch made; $(touch made)"
    folder.mkdir()
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "advisor").write_text('#!/bin/sh\necho "$3"\n')
    (tools / "advisor").chmod(0o755)
    empty = folder / "empty.duckdb"
    empty.touch()
    for path in (folder / "gone.duckdb", empty):
        assert main(["rank", "--store", str(path), "--model", "vit", "--budget", "9k"]) == 2
        said = capsys.readouterr().err
        line = said[said.index("advisor rebuild") :]
        shell = ["/bin/sh", "-c", line.strip()]
        run = subprocess.run(shell, cwd=tmp_path, env={"PATH": str(tools)}, capture_output=True)
        assert run.stdout.decode().strip() == str(path)
        assert not (tmp_path / "made").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="/proc takes no files, whoever asks")
def test_a_home_that_may_not_be_written_is_one_line(
    store_path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, "/proc/self/nothing")
    monkeypatch.delenv("ADVISOR_STORE", raising=False)
    monkeypatch.chdir(tmp_path)
    here = ["--store", str(store_path)]
    bench = ["bench", "--model", "pythia-14m", "--device", "cpu", "--methods", "naive", "--yes"]
    refused = {
        "--store": ["rank", "--model", "pythia-1b", "--budget", "40k"],
        "--records": [*here, *bench],
        "--work": [*here, *bench, "--records", str(tmp_path / "r.jsonl")],
        "'/proc/self/r.md' cannot be written": [*here, "plan", "--out", "/proc/self/r.md", "no"],
    }
    for words, line in refused.items():
        assert main(line) == 2
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1), err
        assert words in err
    assert main([*here, "rank", "--model", "pythia-1b", "--budget", "40k"]) == 0
    assert capsys.readouterr().err == ""
