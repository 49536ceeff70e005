"""A model of the person's own: from a config.json, a timm name or a size; judged while typed."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, cast

from advisor.files import typed_path
from advisor.tui.pages.form import Form, FormField, Judged, in_fields
from advisor.tui.program.state import Change
from advisor.typed_input import InputError, parse_count, parse_samples, parse_whole

if TYPE_CHECKING:
    from advisor.prediction.model.askable_models import Target
    from advisor.prediction.model.own_model import OwnModel
    from bench_runner.recipes import Precision


class ModelForm(Form):
    """Closes with the kept model's name."""

    WHERE = "own model"
    AUTO_FOCUS = "#model"
    SIZE = "page small"
    STUDIES = True
    START = "Name a file, a timm model or a family."
    FIELDS: Sequence[FormField] = (
        FormField("model", "Model", "a config.json or its folder, a timm name, or decoder"),
        FormField("parameters", "Size", "only where the file does not say it: 1.1B"),
        FormField("tokens", "Tokens", "of the whole run: 300B"),
        FormField("name", "Name", "yours for it: my-llama"),
        FormField("images", "Images", "of the whole run, in place of tokens: 1.28B"),
        FormField("batch", "Batch", "samples an optimiser step: 512"),
        FormField("sequence_length", "Sequence", "tokens a sample, where the file does not say it"),
        FormField("precision", "Precision", "bf16 or fp16, where it is another than the file's"),
    )
    HELP = """\
## A model of your own

Name a Hugging Face `config.json` (or the folder that has it), a timm model such as
`vit_large_patch16_224`, or a family (`decoder`, `encoder`, `vit`) with a size. Say how long it is
trained. The files are read while you type; nothing of them is run. `Enter` keeps the model, with an
estimate for every GPU, and asks about it.
"""

    def __init__(self) -> None:
        super().__init__("A model of your own")

    def judge(self, texts: dict[str, str]) -> Judged:
        from advisor.store import StoreError

        if not texts["model"]:
            return Judged("no model is named: write a config.json, a timm name or a family")
        try:
            store = self.app.store_reader.patient_store
            target = read_target(texts, lambda: store().own_definitions().models)
        except (InputError, StoreError, ValueError, OSError) as error:
            return Judged(in_fields(self.FIELDS, " ".join(str(error).split())))
        words = target_words(target)
        if not texts["name"]:
            return Judged(f"{words} Enter keeps it under a name.", self._ask_name)
        return Judged(f"{words} Enter keeps it.", partial(self._keep, target, texts["name"]))

    def _ask_name(self) -> None:
        self.say("it has no name yet: write one of your own, such as my-llama", wrong=True)
        self.query_one("#name").focus()

    def _keep(self, target: Target, name: str) -> None:
        self.say("keeping it, and estimating it on every GPU …")
        self.does(partial(self._kept, target, name))()

    def _kept(self, target: Target, name: str) -> str:
        from advisor.prediction.model.own_model import own_model
        from advisor.store import StoreError

        try:
            own = own_model(target, name)
            times = self.app.store_reader.patient_store().keep_model(own)
        except (StoreError, ValueError) as error:
            text = str(error).replace("--keep ", "the name ").replace("--force", "another name")
            raise InputError(text) from error
        name = self.result = own.recipe.recipe_id
        words = f"Kept {name}: {times:,} estimates."
        kept = Change(
            words, lambda store: store.forget_model(name), lambda store: store.keep_model(own)
        )
        self.app.call_from_thread(self.app.session.did, kept)
        return words


def read_target(typed: dict[str, str], own: Callable[[], Sequence[OwnModel]] = tuple) -> Target:
    """The model that the texts name; ``own`` gives those that are kept. Raises InputError,
    StoreError, ValueError and OSError of one line."""
    from advisor.prediction.model.askable_models import Ask, target_of_size
    from advisor.prediction.model.resolve import resolve
    from bench_runner.recipes import load_recipes

    def amount(name: str, such_as: str, *units: str) -> float | None:
        return parse_count(typed[name], name, such_as, units) if typed[name] else None

    length, batch = typed["sequence_length"], typed["batch"]

    ask = Ask(
        tokens=amount("tokens", "300B", "tokens"),
        images=amount("images", "1.28B", "images"),
        batch_size=parse_samples(batch, "batch") if batch else None,
        sequence_length=parse_whole(length, "sequence length", ("tokens",)) if length else None,
        precision=cast("Precision | None", typed["precision"].strip().casefold() or None),
    )
    size = amount("parameters", "1.1B", "parameters", "params")
    source = typed["model"]
    if size is None:
        path = typed_path(source)
        named = str(path) if path.name and os.path.exists(path) else source
        return resolve(named, ask, load_recipes(), own)
    name = f"{source} of {typed['parameters']}"
    return target_of_size(name, source, size, ask)


def target_words(target: Target) -> str:
    """What was understood, with what was assumed."""
    from bench_runner.typed_numbers import count_words, flops_words

    workload = target.workload
    words = f"{count_words(workload.parameters)} parameters, {flops_words(workload.flops)}"
    if target.assumptions:
        words += f"; assumed: {'; '.join(target.assumptions)}"
    return f"{words}."
