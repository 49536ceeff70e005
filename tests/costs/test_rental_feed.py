"""Renewing rental prices from public files, which a server on this machine has."""

from __future__ import annotations

import csv
import io
import json
import threading
import zipfile
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from advisor.cli.main import main
from advisor.costs.rental_feed import ADDRESS, ADDRESS_VARIABLE, COLUMNS, PROVIDERS, fetch_rentals
from advisor.store import Store
from price_catalog.load import load_catalog
from price_catalog.providers import CloudNames
from tests.store_for_tests import look

TODAY, TOMORROW = date(2026, 11, 21), date(2026, 11, 22)
GPUS = load_catalog().gpus
Row = dict[str, str]


def offer(name: str, price: str, count: str, gpu: str, memory: str, **more: str) -> Row:
    values = (name, "us-east-1", price, count, gpu, memory, "False")
    return dict(zip(COLUMNS, values, strict=True)) | {"cpu": "96"} | more


AWS = [
    offer("p4de.24xlarge", "27.44705", "8", "A100", "80.0"),
    offer("p4de.24xlarge", "37.6", "8", "A100", "80.0", location="ap-northeast-1"),
    offer("p4de.24xlarge", "11.5", "8", "A100", "80.0", spot="True"),
    offer("g6.xlarge", "0.8048", "1", "L4", "24.0"),
    offer("x9.mystery", "3.0", "1", "A100", "80.0"),
    offer("t3.micro", "0.01", "0", "", ""),
]
LAMBDA = [
    offer("gpu_8x_a100_80gb_sxm4", "14.32", "8", "A100", "80.0"),
    offer("gpu_1x_a6000", "0.80", "1", "A6000", "48.0"),
]


def zipped(provider: str, rows: list[Row], columns: list[str] | None = None) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns or [*COLUMNS, "cpu"], extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        raw = text.getvalue().encode("utf-8", "surrogatepass")
        archive.writestr(f"{provider}.csv", raw)
    return out.getvalue()


class Clouds:
    """A server of catalogue files, as a place on the web or as the proxy before it."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.asked: list[str] = []
        clouds = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                clouds.asked.append(self.path)
                *_, provider, version, last = ("", "", *self.path.split("/"))
                body = clouds.files.get(provider if last == "catalog.zip" else version)
                if body is not None and last == "version":
                    body = b"20261121\n"
                self.send_response(404 if body is None else 200)
                self.end_headers()
                self.wfile.write(body or b"")

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"


@pytest.fixture
def clouds(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clouds]:
    found = Clouds()
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(ADDRESS_VARIABLE, found.address)
    found.files = {"aws": zipped("aws", AWS), "lambdalabs": zipped("lambdalabs", LAMBDA)}
    yield found
    found.server.shutdown()
    found.server.server_close()


def test_one_broken_provider_does_not_break_the_rest(clouds: Clouds) -> None:
    clouds.files |= {
        "azure": b"this is no zip file",
        "gcp": zipped("gcp", AWS, [name for name in COLUMNS if name != "spot"]),
        "oci": zipped("oci", []),
        "nebius": zipped("another", AWS),
    }
    found = fetch_rentals(GPUS, [], today=TODAY)
    assert found.failed == {
        "azure": "is no zip file with its table",
        "gcp": "has no column spot",
        "oci": "has no offers",
        "nebius": "is no zip file with its table",
        **dict.fromkeys(("cloudrift", "runpod", "verda"), "answers 404"),
    }
    prices = {(r.provider, r.gpu_id, r.gpu_count, r.kind): r for r in found.rentals}
    node = prices["aws", "a100-sxm4-80gb", 8, "on-demand"]
    assert (node.price_per_hour_usd, node.region) == (Decimal("27.4471"), "us-east-1")
    assert node.priced_on == TODAY
    assert prices["aws", "a100-sxm4-80gb", 8, "spot"].price_per_hour_usd == Decimal("11.5")
    assert prices["lambda", "rtx-a6000", 1, "on-demand"].price_per_hour_usd == Decimal("0.8")
    assert (len(found.rentals), found.new) == (5, 5)
    assert found.left_out == 1  # the A100 whose form nobody states


BAD = {
    "price": ["", "free", "-1", "0", "NaN", "inf", "1e9", "20000", "1,5"],
    "gpu_count": ["-8", "00", "0.0", "1000000000000", "1.5", "eight"],
    "gpu_memory": ["", "lots"],
    "instance_name": ["", "a\x1b[2Jb", "a\nb", "a\u202eb", "a\ud800b", "x" * 200, "a\x00b"],
    "location": ["eu\x1b]0;x\x07", "\u2066eu"],
    "spot": ["maybe", ""],
}


def test_one_bad_offer_is_refused_by_name_and_the_rest_goes_on(clouds: Clouds) -> None:
    bad = [AWS[0] | {name: text} for name, texts in BAD.items() for text in texts]
    clouds.files = {"aws": zipped("aws", [*bad, *AWS])}
    found = fetch_rentals(GPUS, [], today=TODAY)
    assert len(found.refused) == len(bad)
    for number, words in enumerate(found.refused):
        assert words.startswith("aws, line ")
        assert words.isprintable(), number
        assert len(words) < 140
    assert len(found.rentals) == 3
    for rental in found.rentals:
        assert all(text is None or str(text).isprintable() for text in rental)


def test_a_price_that_moved_far_is_held_back_and_what_changed_is_said(clouds: Clouds) -> None:
    first = fetch_rentals(GPUS, [], today=TODAY).rentals
    moved = [AWS[0] | {"price": "100"}, AWS[2] | {"price": "12.5"}, AWS[3]]
    clouds.files = {"aws": zipped("aws", moved)}
    found = fetch_rentals(GPUS, first, today=TOMORROW)
    assert found.held_back == (
        "aws p4de.24xlarge, 8 x a100-sxm4-80gb, on-demand: $27.4471 to $100.0000 an hour",
    )
    assert found.changed == (
        "aws p4de.24xlarge, 8 x a100-sxm4-80gb, spot: $11.5000 to $12.5000 an hour",
    )
    assert {r.gpu_id for r in found.rentals if r.kind == "on-demand"} == {"l4"}
    assert found.new == 0


def test_a_file_that_was_cut_keeps_what_is_there(clouds: Clouds) -> None:
    many = [offer(f"g6.{n}", "0.8", "1", "L4", "24.0") for n in range(30)]
    clouds.files = {"aws": zipped("aws", many), "lambdalabs": zipped("lambdalabs", LAMBDA)}
    first = fetch_rentals(GPUS, [], today=TODAY).rentals
    clouds.files["aws"] = zipped("aws", many[:9])
    found = fetch_rentals(GPUS, first, today=TOMORROW)
    assert found.failed["aws"] == "has 9 prices where 30 are known"
    assert {r.provider for r in found.rentals} == {"lambda"}


def test_what_owners_rent_out_through_runpod_is_of_its_own_kind(clouds: Clouds) -> None:
    rows = [
        offer("NVIDIA GeForce RTX 4090", "0.69", "1", "RTX4090", "24", location="US-TX-3"),
        offer("NVIDIA GeForce RTX 4090", "0.34", "1", "RTX4090", "24", location="US"),
    ]
    clouds.files = {"runpod": zipped("runpod", rows)}
    found = fetch_rentals(GPUS, [], today=TODAY).rentals
    assert {(r.provider, r.kind, str(r.price_per_hour_usd)) for r in found} == {
        ("runpod", "on-demand", "0.6900"),
        ("runpod-community", "peer", "0.3400"),
    }


def test_it_works_behind_a_proxy(clouds: Clouds, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ADDRESS_VARIABLE, "http://prices.invalid/v3")
    monkeypatch.setenv("http_proxy", clouds.address)
    assert len(fetch_rentals(GPUS, [], today=TODAY).rentals) == 5
    assert "http://prices.invalid/v3/aws/version" in clouds.asked
    assert ADDRESS.startswith("https://")


def test_the_rows_are_kept_dated_and_once(
    clouds: Clouds, own_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = len(look(Store(own_store)).rentals())
    argv = ["prices", "refresh", "--store", str(own_store)]
    assert main(argv) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "5 rental prices" in printed.err
    assert "from 2 providers: 5 new, 0 changed; 1 offers left out" in printed.err
    assert "not read, what is there stays: azure: answers 404" in printed.err
    kept = look(Store(own_store)).rentals()
    assert len(kept) == before + 5
    assert main(argv) == 0
    assert look(Store(own_store)).rentals() == kept
    ask = ["prices", "rent", "--model", "pythia-1b", "--gpu", "A100", "--count", "8"]
    capsys.readouterr()
    assert main([*ask, "--format", "json", "--store", str(own_store)]) == 0
    rent = {row["rent"]: row for row in json.loads(capsys.readouterr().out)["rent"]}
    assert rent["on-demand"]["providers"] >= 2


@pytest.mark.parametrize("address", ["http://127.0.0.1:9", "file:///etc", "gopher://x"])
def test_no_network_is_a_clear_message_and_the_prices_stay(
    address: str,
    own_store: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(ADDRESS_VARIABLE, address)
    before = look(Store(own_store)).rentals()
    assert main(["prices", "refresh", "--store", str(own_store)]) == 1
    printed = capsys.readouterr()
    assert printed.err.startswith(f"advisor: no rental price could be read ({PROVIDERS[0]} ")
    assert "check the network, or HTTPS_PROXY; the prices that are there stay" in printed.err
    assert printed.err.count("\n") == 1
    assert look(Store(own_store)).rentals() == before


@pytest.mark.parametrize(
    ("provider", "instance", "gpu", "memory", "gpu_id"),
    [
        ("aws", "p4de.24xlarge", "A100", 80, "a100-sxm4-80gb"),
        ("aws", "p4d.24xlarge", "A100", 40, "a100-sxm4-40gb"),
        ("azure", "Standard_NC24ads_A100_v4", "A100", 80, "a100-pcie-80gb"),
        ("gcp", "a3-highgpu-8g", "H100", 80, "h100-sxm5-80gb"),
        ("gcp", "a3-ultragpu-8g", "H200", 141, "h200-sxm-141gb"),
        ("lambdalabs", "gpu_1x_a100", "A100", 40, "a100-pcie-40gb"),
        ("runpod", "whatever", "A100", 80, None),
        ("runpod", "whatever", "RTX4090", 24, "rtx-4090"),
        ("runpod", "whatever", "RTX6000Ada", 48, "rtx-6000-ada"),
        ("runpod", "whatever", "H100NVL", 94, "h100-nvl-94gb"),
        ("runpod", "whatever", "RTXPRO6000", 96, None),
        ("runpod", "whatever", "RTX3080", 10, None),
        ("runpod", "whatever", "A40", 24, None),
    ],
)
def test_a_form_that_is_not_stated_is_not_guessed(
    provider: str, instance: str, gpu: str, memory: float, gpu_id: str | None
) -> None:
    assert CloudNames(GPUS).gpu_id(provider, instance, gpu, memory) == gpu_id
