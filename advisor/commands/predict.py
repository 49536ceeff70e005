"""``advisor predict``: does a model fit a machine, how long would it train, and how sure is that.

stdout holds the answer alone. Exit codes: 0 there is a time; 1 there is none (it does not fit, or
it is too far from everything measured); 2 the input is wrong.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from advisor.parse import InputError, shown

if TYPE_CHECKING:
    from advisor.predict.answer import Prediction
    from advisor.predict.fitted import Fitted

ANSWERED, NO_ANSWER = 0, 1
_AMOUNT = re.compile(r"(?P<number>\d{1,15}(?:,\d{3})*(?:\.\d{1,6})?)\s*(?P<suffix>[kmbt]?)", re.I)
_SUFFIX = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    add = parser.add_argument
    add("--model", required=True, help="a recipe, a config.json or its folder, or a timm name")
    add("--gpu", required=True, help="a GPU of the catalogue, such as H100")
    add("--count", default="1", metavar="N", help="how many GPUs (default: 1)")
    add("--tokens", metavar="T", help="tokens of the whole run, such as 300B")
    add("--images", metavar="I", help="images of the whole run, such as 1.28B")
    add("--batch", metavar="B", help="samples an optimiser step, over all GPUs")
    add("--sequence-length", metavar="L", help="tokens a sample")
    add("--image-size", metavar="P", help="pixels a side")
    add("--precision", metavar="P", help="fp16, bf16 or fp32")
    add("--parameters", metavar="P", help="where only a size is known: with --model FAMILY")
    add("--method", default="optimal", help="optimal (default), free-lunch or naive")
    add("--format", default="table", help="table (default) or json")


def run(options: argparse.Namespace, load_fit: Callable[[], Fitted]) -> int:
    """Predict and print. Raises InputError; ``load_fit`` is called once the input is known."""
    from advisor.predict.answer import predict
    from advisor.predict.chip import chip_of
    from advisor.predict.resolve import Ask, resolve
    from advisor.predict.targets import Run, target_of_size
    from bench_runner.recipes import load_recipes
    from price_catalog.gpu_names import find_gpu, index_gpus
    from price_catalog.load import load_catalog

    if options.format not in ("table", "json"):
        raise InputError(f"--format {shown(options.format)} is not table or json")
    try:
        ask = Ask(
            tokens=_amount(options.tokens, "--tokens"),
            images=_amount(options.images, "--images"),
            batch_size=_whole(options.batch, "--batch"),
            sequence_length=_whole(options.sequence_length, "--sequence-length"),
            image_size=_whole(options.image_size, "--image-size"),
            precision=options.precision,
        )
        count = _whole(options.count, "--count") or 1
        chip = chip_of(find_gpu(options.gpu, index_gpus(load_catalog().gpus)))
        parameters = _amount(options.parameters, "--parameters")
        if parameters is None:
            target = resolve(options.model, ask, load_recipes())
        else:
            run_ = Run(
                batch_size=ask.batch_size or 512,
                tokens=ask.tokens,
                images=ask.images,
                sequence_length=ask.sequence_length,
                image_size=ask.image_size,
                precision=ask.precision,
            )
            name = f"{options.model} of {options.parameters} parameters"
            target = target_of_size(name, options.model, parameters, run_)
        answer = predict(target, chip, count, load_fit(), method=options.method)
    except ValueError as error:
        raise InputError(str(error)) from None
    if options.format == "json":
        from advisor.render import to_json

        print(to_json(as_object(answer)))
    else:
        print("\n".join(as_lines(answer)))
    return ANSWERED if answer.training_days is not None else NO_ANSWER


def _amount(text: str | None, option: str) -> float | None:
    """``300B`` as 3e11."""
    if text is None:
        return None
    match = _AMOUNT.fullmatch(text.strip())
    if match is None or not text.isascii():
        raise ValueError(f"{option} {shown(text)} is not an amount; write one such as 300B")
    return float(match["number"].replace(",", "")) * _SUFFIX[match["suffix"].lower()]


def _whole(text: str | None, option: str) -> int | None:
    if text is None:
        return None
    try:
        value = _amount(text, option)
    except ValueError:
        value = None
    if value is None or not value.is_integer() or value < 1:
        raise ValueError(f"{option} {shown(text)} is not a whole number above 0, such as 8")
    return int(value)


def as_object(answer: Prediction) -> Mapping[str, Any]:
    """The JSON of the command: stable names, numbers as they are."""
    from dataclasses import asdict

    content = asdict(answer)
    content["model"] = content.pop("target")
    return content


def as_lines(answer: Prediction) -> list[str]:
    """The answer in words, one fact a line."""
    from advisor.answers import settings_words

    machine = f"{answer.target} on {answer.gpu_count} x {answer.gpu}"
    if answer.training_days is None:
        lines = [f"{machine}: {answer.reason}"]
    else:
        low, high = answer.training_days_low, answer.training_days_high
        lines = [
            f"{machine}: {days_words(answer.training_days)} days, predicted "
            f"(9 in 10 such times lie between {days_words(low)} and {days_words(high)})",
            f"  {answer.reason}",
        ]
    if answer.settings is not None:
        lines.append(f"  fits with: {settings_words(answer.settings)}")
        lines.append(f"  settings that fit: {len(answer.fitting)}")
    if answer.analytic_days is not None:
        lines.append(
            f"  analytic estimate (all FLOPs at the peak, the optimist): "
            f"{days_words(answer.analytic_days)} days, which no training reaches"
        )
    if answer.assumptions:
        lines.append(f"  assumed: {'; '.join(answer.assumptions)}")
    if answer.measure is not None:
        lines.append(f"  to be sure: {answer.measure}")
    return lines


def days_words(days: float | None) -> str:
    """Three significant digits: more would promise what no prediction holds."""
    if days is None:
        return "no data"
    return f"{days:,.0f}" if days >= 100 else f"{days:.3g}"
