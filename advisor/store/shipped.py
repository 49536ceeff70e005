"""The rows that ship as text, and whether they are the ones that a store holds."""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import advisor
import bench_runner
import price_catalog

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from advisor.ranking.times import Model
    from bench_runner.recipes import Recipe
    from bench_runner.records import Measurement
    from price_catalog.model import Gpu, Host, Quote, Rental, Source

_TEXT = (".csv", ".toml", ".jsonl", ".json")
_DERIVING = (
    (advisor, "ranking/audit.py"),
    (advisor, "prediction/fitted.json"),
    (advisor, "prediction/shipped.py"),
    (bench_runner, "flops.py"),
)
"""What else the figures in the store follow from: when it changes, so do they."""


class Shipped(NamedTuple):
    """Everything that the text tables say."""

    sources: tuple[Source, ...]
    gpus: tuple[Gpu, ...]
    hosts: tuple[Host, ...]
    quotes: tuple[Quote, ...]
    rentals: tuple[Rental, ...]
    models: tuple[Model, ...]
    measurements: tuple[Measurement, ...]
    predictions: tuple[dict[str, Any], ...]
    """Columns of the table prediction."""


@cache
def shipped_digest() -> str:
    """A digest over the text tables; a few milliseconds, nothing is parsed."""
    paths = []
    for package in (bench_runner, price_catalog):
        folder = Path(package.__path__[0])
        for path in folder.rglob("*"):
            if path.suffix in _TEXT:
                paths.append((f"{package.__name__}/{path.relative_to(folder).as_posix()}", path))
    for package, name in _DERIVING:
        paths.append((f"{package.__name__}/{name}", Path(package.__path__[0], name)))
    digest = blake2b(digest_size=16)
    for name, path in sorted(paths):
        # A checkout with other line ends holds the same facts.
        content = path.read_bytes().replace(b"\r\n", b"\n")
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def stored_digest(connection: DuckDBPyConnection) -> str | None:
    """The digest of the text from which the shipped rows were made; None before the first time."""
    row = connection.execute("SELECT value FROM meta WHERE key = 'shipped_digest'").fetchone()
    return str(row[0]) if row else None


def read_shipped() -> Shipped:
    """Parse the text tables. Slow beside everything else here: only for seeding.

    Raises StoreError where a table has a broken row: the store then stays as it is.
    """
    from advisor.store.connection import StoreError

    try:
        return _parse()
    except OSError as error:
        raise StoreError(
            f"the text tables cannot be read ({error.strerror}: {error.filename}): "
            "put the file back, or install this program again; no store was changed"
        ) from error
    except ValueError as error:
        raise StoreError(
            f"the text tables have a fault, and no store was changed: {error}"
        ) from error


def _parse() -> Shipped:
    from dataclasses import asdict

    from advisor.prediction.shipped import predicted_rows, prediction_source, shipped_fit
    from bench_runner import published, recipes
    from price_catalog.load import load_catalog
    from price_catalog.model import Source

    catalog = load_catalog()
    known = recipes.load_recipes()
    fitted = shipped_fit()
    return Shipped(
        sources=(
            *catalog.sources,
            *(Source(**asdict(source)) for source in published.load_sources()),
            prediction_source(fitted),
        ),
        gpus=catalog.gpus,
        hosts=catalog.hosts,
        quotes=catalog.quotes,
        rentals=catalog.rentals,
        models=tuple(model_of(recipe) for recipe in known),
        measurements=published.load_published(),
        predictions=tuple(predicted_rows(fitted, known, catalog.gpus)),
    )


def model_of(recipe: Recipe) -> Model:
    """A recipe as the store holds it. Raises UncountedArchitectureError."""
    from advisor.ranking.times import Model
    from bench_runner.flops import count_flops
    from bench_runner.recipes import recipe_hash

    count = count_flops(recipe)
    return Model(
        recipe_id=recipe.recipe_id,
        name=recipe.name,
        family=recipe.family,
        parameters=count.parameters,
        batch_size=recipe.training.batch_size,
        training_steps=recipe.training.training_steps,
        sequence_length=recipe.training.sequence_length,
        image_size=recipe.training.image_size,
        precision=recipe.training.precision,
        optimizer=recipe.training.optimizer,
        flops_lowest=float(count.flops_lowest),
        flops_full=float(count.flops_full),
        recipe_hash=recipe_hash(recipe),
        source_id=recipe.source,
        note=recipe.note,
        origin="shipped",
    )
