"""The rows that ship as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from advisor.ranking.times import Model
    from bench_runner.recipes import Recipe
    from bench_runner.records.measurement import Measurement
    from price_catalog.model import Gpu, Host, Quote, Rental, Source


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


def read_shipped() -> Shipped:
    """Parse the text tables. Slow beside everything else here: only for seeding.

    Raises StoreError where a table has a broken row: the store then stays as it is.
    """
    from advisor.store.store_error import StoreError

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

    from advisor.prediction.shipped_predictions import prediction_source, shipped_fit, shipped_rows
    from bench_runner import recipes
    from bench_runner.records import published
    from price_catalog.load import load_catalog
    from price_catalog.model import Source

    catalog = load_catalog()
    known = recipes.load_recipes()
    measurements = published.load_published()
    return Shipped(
        sources=(
            *catalog.sources,
            *(Source(**asdict(source)) for source in published.load_sources()),
            prediction_source(shipped_fit()),
        ),
        gpus=catalog.gpus,
        hosts=catalog.hosts,
        quotes=catalog.quotes,
        rentals=catalog.rentals,
        models=tuple(model_of(recipe) for recipe in known),
        measurements=measurements,
        predictions=tuple(shipped_rows(known, catalog.gpus, measurements)),
    )


def model_of(recipe: Recipe) -> Model:
    """A recipe as the store holds it. Raises UncountedArchitectureError."""
    from advisor.ranking.times import Model
    from bench_runner.recipe_flops import count_flops
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
        compiles=recipe.support.compile,
    )
