"""How the model is trained, and what else some GPUs train: two forms, judged while typed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from advisor.ranking.fine_tuning import parted, read_fine_tuning
from advisor.tui.pages.form import Form, FormField, Judged, in_fields
from advisor.tui.widgets.lines import PLAIN, Line
from advisor.typed_input import InputError, parse_max_days, parse_whole

if TYPE_CHECKING:
    from advisor.answers.reach import Reached, ReachQuestion
    from advisor.ranking.fine_tuning import FineTuning

TRAINS = {
    "pretrain": "pre-train",
    "full": "fine-tune all weights",
    "lora": "LoRA",
    "qlora": "QLoRA",
}
DATA = FormField("data", "Data", "tokens: 50M, or examples: 52000x512")


class TuningForm(Form):
    """Closes with the model's name, which says how it is fine-tuned."""

    WHERE = "training"
    AUTO_FOCUS = "#train"
    SIZE = "page small"
    START = "Space chooses. What is empty is usual: rank 16, 50M tokens, seen once."
    FIELDS: Sequence[FormField] = (
        FormField("train", "Train", choices=TRAINS),
        FormField("rank", "Rank", "of adapters: 16"),
        DATA,
        FormField("epochs", "Epochs", "how often the data are seen: 1"),
    )
    HELP = """\
## How the model is trained

From nothing (pre-train), all weights on data of your own (fine-tune), adapters beside weights that
stay (LoRA), or adapters beside weights of 4 bits (QLoRA). The days, the memory and the ranking are
of that training. The model's name then says it, as `llama-3.1-8b+lora+data=50M`: you may type it
there, too.
"""

    def __init__(self, model: str) -> None:
        try:
            self._model, tuning = parted(model)
        except InputError:
            self._model, tuning = model.partition("+")[0], None
        values: dict[str, str] = {"train": "pretrain" if tuning is None else tuning.train}
        if tuning is not None:
            given = (part.partition("=") for part in tuning.of("").split("+")[2:])
            values |= {key: value for key, _, value in given}
        super().__init__(f"How {self._model} is trained", values)

    def judge(self, texts: dict[str, str]) -> Judged:
        try:
            tuning = _tuning_of(texts)
        except InputError as error:
            return Judged(in_fields(self.FIELDS, str(error)))
        name = self._model if tuning is None else tuning.of(self._model)
        words = TRAINS["pretrain"] if tuning is None else tuning.words(text=True)
        return Judged(f"{words}. Enter asks about it.", partial(self.dismiss, name))


class ReachForm(Form):
    """What some GPUs can train in a time: every model, below the fields."""

    WHERE = "reach"
    AUTO_FOCUS = "#max_days"
    STUDIES = True
    GRID = "pairs"
    FIELDS: Sequence[FormField] = (
        FormField("gpu", "GPU", "such as A6000"),
        FormField("count", "How many", "1"),
        FormField("max_days", "Days", "at most: 30, 8w"),
        FormField("train", "Train", choices=TRAINS),
        DATA,
    )
    HELP = """\
## What these GPUs can train

Every model with its days, its memory and its settings on these GPUs: those that keep the time
first, the longest of them first of all; then what takes longer, and what does not fit and what
would make it fit. `advisor reach` prints the same.
"""

    def __init__(self, gpu: str, count: int, max_days: str, tuning: FineTuning | None) -> None:
        train = "pretrain" if tuning is None else tuning.train
        asked = {"gpu": gpu, "count": str(count), "max_days": max_days, "train": train}
        super().__init__("What these GPUs can train", asked)

    def on_mount(self) -> None:
        self.look(self.texts)

    def typed(self) -> None:
        """Judge what is typed, the first values too."""
        self.look(self.texts)

    def judge(self, texts: dict[str, str]) -> Judged:
        from advisor.answers.reach import reach_sentence, reach_text
        from advisor.store import StoreError

        try:
            rows, asked = self._reached(texts)
        except (InputError, StoreError) as error:
            return Judged(in_fields(self.FIELDS, str(error)))

        def page(width: int) -> list[Line]:
            text = reach_text(rows, asked, width=width, details=True).partition("\n\n")[2]
            return [(line, PLAIN) for line in text.splitlines()]

        said = in_fields(self.FIELDS, reach_sentence(rows, asked))
        return Judged(said, lambda: None, page=page)

    def _reached(self, texts: dict[str, str]) -> tuple[list[Reached], ReachQuestion]:
        """Raises InputError and StoreError."""
        from advisor.answers.reach import ReachQuestion, reached
        from price_catalog.gpu_names import find_gpu, index_gpus

        tuning = _tuning_of({"rank": "", "epochs": "", **texts})
        count = parse_whole(texts["count"] or "1", "the number of GPUs", ("gpus", "gpu"))
        days = parse_max_days(texts["max_days"]) if texts["max_days"] else None
        with self.app.store_reader.patient_store().reading() as reader:
            try:
                gpu = find_gpu(texts["gpu"], index_gpus(reader.gpus()))
            except ValueError as error:
                raise InputError(str(error)) from None
            asked = ReachQuestion(gpu=gpu, count=count, max_days=days, tuning=tuning)
            return reached(*reader.times_on(gpu, count, tuning), asked), asked


def _tuning_of(texts: dict[str, str]) -> FineTuning | None:
    """Raises InputError."""
    given = {name: texts[name] or None for name in ("rank", "data", "epochs")}
    return read_fine_tuning(texts["train"], **given)
