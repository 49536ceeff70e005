"""The user's own quotes: typed, imported, exported; wrong input in every form."""

from __future__ import annotations

import csv
import io
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.costs.own_quotes import COLUMNS, NEEDED, OWN, Items, make_quote
from advisor.costs.own_quotes_csv import MAX_PROBLEMS, Preview, quotes_csv, read_quotes
from advisor.costs.price_book import PLACEHOLDERS
from advisor.tables.table_formats import guarded
from price_catalog.load import load_catalog
from price_catalog.model import Quote

TODAY = date(2026, 11, 21)
CATALOG = load_catalog()
ITEMS = Items(CATALOG.gpus, CATALOG.hosts, (quote.quote_id for quote in CATALOG.quotes))
GOOD = {
    "item": "RTX 3090",
    "price": "900",
    "vendor": "shop",
    "date": "2026-11-01",
    "kind": "used",
}
RUN_BY_SPREADSHEETS = ("=", "+", "-", "@", "\t", "\r")


def made(**cells: str) -> Quote:
    quote = make_quote(GOOD | cells, ITEMS, today=TODAY)
    assert isinstance(quote, Quote), [str(problem) for problem in quote]
    return quote


def wrong(**cells: str) -> dict[str | None, str]:
    problems = make_quote(GOOD | cells, ITEMS, today=TODAY)
    assert isinstance(problems, list)
    return {problem.column: problem.message for problem in problems}


def sheet(*rows: dict[str, str], columns: tuple[str, ...] = COLUMNS) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def test_a_quote_as_typed() -> None:
    quote = made(includes="Shipping; tax", valid_until="2026-12-31", url="https://example.org/x")
    assert (quote.item_kind, quote.item_id) == ("gpu", "rtx-3090")
    assert (quote.price_usd, quote.kind, quote.vendor) == (900, "used", "shop")
    assert (quote.includes, quote.valid_until) == ("shipping; tax", date(2026, 12, 31))
    assert quote.origin == "local"
    assert quote.source_id == OWN.source_id


def test_the_same_quote_has_the_same_id_however_it_is_written() -> None:
    assert made().quote_id == made(price="$900.00", item="3090", currency="usd").quote_id
    assert made().quote_id != made(price="901").quote_id


def test_a_whole_server_and_a_part() -> None:
    assert made(item="DGX H100", price="300k").item_kind == "server"
    assert made(item="Desktop for 1 GPU", price="1100").item_kind == "host"
    assert made(item="Noctua NH-D15", item_kind="part", price="99.95").item_id == "Noctua NH-D15"


def test_another_currency_needs_its_rate() -> None:
    quote = made(price="1000", currency="EUR", usd_per_unit="1.085")
    assert (quote.price_usd, quote.price_quoted, quote.currency) == (1085, 1000, "EUR")
    for written in ("£1,000", "1000 GBP", "gbp 1,000.00", "1 000 £"):
        pounds = made(price=written, currency="GBP", usd_per_unit="1.31")
        assert (pounds.price_usd, pounds.price_quoted) == (1310, 1000)
    for rate in ("1,15", "1,150", "1.15"):  # a comma as a spreadsheet writes it in Germany
        assert made(price="1000,00", currency="EUR", usd_per_unit=rate).price_usd == 1150
    assert "is no exchange rate" in wrong(currency="EUR", usd_per_unit="1,1,5")["usd_per_unit"]
    euros = made(price="1.000,00 €", currency="EUR", usd_per_unit="1.1")
    assert (euros.price_usd, euros.price_quoted) == (1100, 1000)
    assert wrong(price="€900")["price"] == (
        "'€900' is in another currency: write 900, currency EUR and usd_per_unit 1.1403 "
        "(of 2026-09-25)"
    )
    # No rate is made up for what has none here, nor a currency chosen of several.
    for price, mend in (
        ("9000 SEK", "write 9000, currency SEK and usd_per_unit with the US dollars of one that"),
        ("9000 kr", "write 9000, currency SEK or NOK or DKK and usd_per_unit with the US"),
    ):
        assert mend in wrong(price=price)["price"]
    assert wrong(currency="SEK")["usd_per_unit"].endswith("one SEK on the day of the quote")
    said = wrong(price="€900", currency="GBP", usd_per_unit="1.31")["price"]
    assert said == "'€900' is in EUR, the currency GBP: which is it?"
    assert "currency twice" in wrong(price="££900", currency="GBP", usd_per_unit="1.31")["price"]
    assert "which is it" in wrong(price="$900", currency="GBP", usd_per_unit="1.31")["price"]
    assert "the exchange rate is missing" in wrong(currency="EUR")["usd_per_unit"]
    assert "exchange rate" in wrong(currency="EUR", usd_per_unit="0")["usd_per_unit"]


def test_a_rate_far_from_the_shipped_one_is_refused_with_the_right_one() -> None:
    right = "write the US dollars of one EUR, like 1.1403 (of 2026-09-25), which makes $9,122"
    found = wrong(price="8000", currency="EUR", usd_per_unit="0.877")
    assert found == {"usd_per_unit": f"0.877 is the EUR of one US dollar: {right}"}
    (far,) = wrong(price="8000", currency="EUR", usd_per_unit="11.4").values()
    assert far == f"11.4 is far from 1.1403 (of 2026-09-25): {right}"
    assert made(price="8000", currency="EUR", usd_per_unit="1.04").price_usd == 8320
    assert made(price="1,20,000", currency="INR", usd_per_unit="0.0115").price_usd == 1380
    for price in ("₹1,20,000", "Rs. 1.2 lakh", "0.012 crore rupees"):
        found = made(price=price, currency="INR", usd_per_unit="0.0115")
        assert found.price_quoted == 120_000
    assert "as in India: write 120000" in wrong(price="1,20,000")["price"]


def test_what_a_seller_writes_beside_a_price() -> None:
    assert made(price="$900 ex VAT").price_usd == 900
    assert made(price="1.200,- € netto", currency="EUR", usd_per_unit="1.14").price_quoted == 1200
    assert wrong(price="$900 incl. VAT")["price"].endswith("write the number, and tax as included")
    for text in ("TBD", "n/a", "POA", "on request", "call for price", "-"):
        assert "is no price yet: ask for it, and leave it out" in wrong(price=text)["price"]


@pytest.mark.parametrize(
    ("column", "text", "says"),
    [
        ("item", "RTX 309", "did you mean 'RTX 3090'"),
        ("item", "", "is empty"),
        ("price", "NaN", "not an amount"),
        ("price", "1e400", "over $1,000,000,000"),
        ("price", "-5", "negative"),
        ("price", "1.300", "could mean 1.3 or 1,300: write"),
        ("price", "€900", "in another currency"),
        ("price", "1", "not a price of one gpu"),
        ("price", "900000", "not a price of one gpu"),
        ("price", "9" * 400, "not an amount"),
        ("price", "9" * 20, "over $1,000,000,000"),
        ("date", "2026-02-30", "not a date"),
        ("date", "01.11.2026", "not a date"),
        ("date", "2026-11-22", "after today"),
        ("date", "0001-01-01", "before 2000"),
        ("kind", "usd", "did you mean 'used'"),
        ("item_kind", "card", "not known"),
        ("currency", "dollars", "no currency"),
        ("includes", "vat", "write tax where the price includes it"),
        ("includes", "shipping; excl. tax", "write tax where the price includes it"),
        ("valid_until", "2026-10-01", "before the date"),
        ("url", "javascript:alert(1)", "no web address"),
        ("vendor", "x" * 501, "501 characters"),
        ("vendor", "a\x1b[2Jb", "control characters"),
        ("vendor", "a\x00b", "control characters"),
        ("corrects", "nobody", "no quote is called"),
    ],
)
def test_each_cell_is_checked(column: str, text: str, says: str) -> None:
    found = wrong(**{column: text})
    assert says in found[column]
    assert "\n" not in found[column]
    assert len(found[column]) < 300


# CSV


def previewed(path: Path) -> Preview:
    return read_quotes(path, ITEMS, today=TODAY)


def read(path: Path, text: str | bytes) -> list[str]:
    """The problems of a file with this content; [] where all of it can be read."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    preview = previewed(path)
    assert not (preview.quotes and preview.problems)
    return [str(problem) for problem in preview.problems]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_that_spreadsheets_write(encoding: str, tmp_path: Path) -> None:
    assert read(tmp_path / "q.csv", sheet(GOOD | {"vendor": "Müller"}).encode(encoding)) == []


def test_a_first_line_that_names_the_mark_is_no_row(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    semicolons = sheet(GOOD).replace(",", ";")
    assert read(path, f"sep=;\r\n{semicolons}") == []
    assert read(path, f'"sep=;"\n{semicolons}') == []
    (problem,) = read(path, f"sep=;\n{sheet(GOOD | {'date': 'soon'}).replace(',', ';')}")
    assert problem.startswith("row 3, ")  # as the spreadsheet counts


def test_every_problem_is_told_with_row_and_column(tmp_path: Path) -> None:
    rows = [GOOD, GOOD | {"price": "cheap"}, GOOD | {"date": "soon", "vendor": ""}, GOOD]
    rows.append(GOOD | {"vendor": "another", "corrects": "own:none"})
    problems = read(tmp_path / "q.csv", sheet(*rows))
    assert [problem.partition(": ")[0] for problem in problems] == [
        "row 3, column 'price'",
        "row 4, column 'vendor'",
        "row 4, column 'date'",
        "row 5, column 'item'",
        "row 6, column 'corrects'",
    ]
    assert problems[3].endswith("says the same as row 2: keep one of them")
    assert "no quote is called 'own:none'" in problems[4]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"item,price,vendor,date,kind\n", "holds no quotes"),
        (b"item,price,vendor,date\n", "column 'kind' is missing"),
        (b"item,price,vendor,date,kind,kind\n", "is there twice"),
        (b"item,price,vendor,date,kind,zzz\n", "'zzz' is not known; the header needs item, "),
        (b"\xff\xfe\x00bin", "is no table of quotes: the header needs item, "),
        (b"item,price,vendor,date,knd\n", "'knd' is not known; did you mean 'kind'"),
        (b"item,price,vendor,date,kind\n\xff\xfe\n", "row 2: byte"),
        (b'item,price,vendor,date,kind\n"RTX 3090,900,shop\n', "not valid CSV"),
        (b"item,price,vendor,date,kind\nRTX 3090,900,shop\n", "row 2: has 3 cells"),
        (b"item,price,vendor,date,kind\n" + b"x" * 200_000 + b",1,a,b,c\n", "field larger"),
    ],
)
def test_a_file_that_is_none(content: bytes, says: str, tmp_path: Path) -> None:
    (problem,) = read(tmp_path / "q.csv", content)
    assert says in problem


def test_a_file_of_a_hundred_megabytes_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    with path.open("wb") as file:
        file.write(b"item,price,vendor,date,kind\n")
        file.truncate(100_000_000)
    (problem,) = previewed(path).problems
    assert "larger than 64 MiB" in str(problem)


def test_columns_that_a_spreadsheet_left_empty_are_no_error(tmp_path: Path) -> None:
    rows = ["item,price,vendor,date,kind,,", "RTX 3090,900,shop,2026-11-01,used,,", ",,,,,,"]
    assert read(tmp_path / "q.csv", "\n".join(rows)) == []
    assert read(tmp_path / "q.csv", "\n".join([rows[0].rstrip(","), rows[1]])) == []
    (problem,) = read(tmp_path / "q.csv", "\n".join([rows[0], rows[1] + "x"]))
    assert problem.startswith("row 2: has 7 cells where the header has 5")


def test_reading_stops_where_all_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text("item,price,vendor,date,kind\n" + "x,y,z,w,v\n" * 50_000)
    preview = previewed(path)
    assert preview.stopped
    assert MAX_PROBLEMS <= len(preview.problems) <= MAX_PROBLEMS + len(COLUMNS)


NASTY = [
    "", " ", "=1+1", "+cmd|' /C calc'!A0", "\t=1", "'=1", '"', "\\", "\x00", "\ufeff", "\u202e",
    "9" * 5000, "1e999", "-0", "NaN", "1,300", "1.300", "$5", "٣", "2026-13-01", "a\nb", "a\r\nb",
    "[bold]x[/]", "x" * 3000, "\ud7ff", "‘900’", "None", "../../etc/passwd",
]  # fmt: skip
nasty = st.sampled_from([*COLUMNS, *NASTY])
tables = st.lists(st.lists(nasty | st.sampled_from([*GOOD.values()]), max_size=8), max_size=4)


@given(
    st.just(list(NEEDED)) | st.permutations(COLUMNS) | st.lists(nasty, max_size=6),
    st.lists(st.just([*GOOD.values()]), max_size=1),
    tables,
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from(["utf-8", "utf-16", "utf-16-le", "utf-32"]),
    st.booleans(),
    st.none() | st.integers(0, 300),
)
def test_any_file_is_read_whole_or_refused_in_printable_lines(
    tmp_path_factory: pytest.TempPathFactory,
    header: list[str],
    good: list[list[str]],
    rows: list[list[str]],
    mark: str,
    end: str,
    encoding: str,
    quoted: bool,
    cut: int | None,
) -> None:
    def cell(text: str) -> str:
        return '"' + text.replace('"', '""') + '"' if quoted else text

    text = end.join(mark.join(map(cell, row)) for row in (header, *good, *rows))
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_bytes(text.encode(encoding, "replace")[:cut])
    preview = previewed(path)
    assert bool(preview.quotes) != bool(preview.problems)
    for problem in preview.problems:
        assert str(problem).isprintable()
        assert len(str(problem)) < 700
        assert problem.row is not None or problem.column is None
    for quote in preview.quotes:
        assert quote.price_usd >= 20
        assert date(2000, 1, 1) <= quote.quoted_on <= TODAY


# Out again

words = st.text(min_size=1, max_size=40).filter(
    # What stands for a seller's name in a suggested command is refused, and not kept.
    lambda text: text.strip() and text.isprintable() and text.strip() not in PLACEHOLDERS
)


@given(words, words)
def test_export_and_import_bring_the_same_quotes_back(vendor: str, note: str) -> None:
    import tempfile

    quote = made(vendor=guarded(vendor.strip()), note=guarded(note.strip()))
    text = quotes_csv([quote], {("gpu", "rtx-3090"): "RTX 3090"})
    for row in csv.reader(io.StringIO(text, newline="")):
        assert not any(cell.startswith(RUN_BY_SPREADSHEETS) for cell in row)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "q.csv")
        path.write_text(text, encoding="utf-8", newline="")
        preview = previewed(path)
    assert preview.problems == ()
    assert preview.quotes == (quote,)
