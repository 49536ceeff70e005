"""Records from elsewhere: a file that is named, and brought in whole or not at all."""

from __future__ import annotations

from collections.abc import Sequence

from advisor.answers.prediction.merge_words import merged_words
from advisor.files import is_file, typed_path
from advisor.tui.pages.form import Form, FormField, Judged


class MergeForm(Form):
    """Closes with what was brought in, in words."""

    WHERE = "records"
    AUTO_FOCUS = "#path"
    SIZE = "page small"
    GRID = "line"
    START = "Name a file of records, or another store. Bringing it in cannot be undone."
    FIELDS: Sequence[FormField] = (FormField("path", "File", "such as records.jsonl", 1000),)
    HELP = """\
## Records from elsewhere

What somebody else measured, or another machine of yours: JSON lines as a benchmark writes them, or
a store. All of it comes in or nothing, marked with the file's name and its day. `advisor merge
--check` lists first what would change in the ranking; `advisor merge --mine` takes it as your own.
"""

    def judge(self, texts: dict[str, str]) -> Judged:
        path = typed_path(texts["path"])
        if not is_file(path):
            why = "There is no such file yet." if path.name else "no file is named"
            return Judged(why, field="path")
        store = self.app.store_reader.patient_store
        keep = self.does(lambda: f"{path.name}: {merged_words(store().merge(path))}.")
        return Judged(f"Enter brings in {path.name}. This cannot be undone.", keep)
