"""Every action once, with what it does: bindings, footer, help and palette are made from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from textual.binding import Binding

EVERYWHERE = "everywhere"

KEY_NAMES = {
    "question_mark": "?",
    "slash": "/",
    **{"plus": "+", "equals_sign": "="},
    **{"up": "↑", "down": "↓", "left": "←", "right": "→"},
    **{"pageup": "PgUp", "pagedown": "PgDn", "home": "Home", "end": "End"},
    "enter": "Enter",
    "space": "Space",
    **{f"f{number}": f"F{number}" for number in range(1, 10)},
    **{f"ctrl+{letter}": f"^{letter}" for letter in "pqrsyz"},
    "escape": "Esc",
}


def shown_keys(keys: str) -> str:
    """Keys with commas between them, as they are written on the keyboard."""
    return " ".join(KEY_NAMES.get(key, key) for key in keys.split(","))


class Action(NamedTuple):
    """One thing that a person can do."""

    action: str
    """What Textual runs, e.g. ``toggle_cost``."""
    keys: str
    """The keys that do it, separated by commas; the first one is shown."""
    area: str
    verb: str
    """The palette shows ``area: verb``."""
    text: str
    """What it does, in one sentence, for the help."""
    where: str
    """The screen that has it, or EVERYWHERE."""
    footer: str = ""
    """Its word in the footer, which shows as many as the terminal is wide for; empty keeps it
    out."""

    @property
    def key(self) -> str:
        """The key that is shown for it."""
        return KEY_NAMES.get(first := self.keys.split(",")[0], first)

    @property
    def shown_keys(self) -> str:
        """All its keys, as they are written on the keyboard."""
        return shown_keys(self.keys)

    @property
    def said(self) -> str:
        """What it does, as the help says it."""
        return f"{self.verb[:1].upper()}{self.verb[1:]}. {self.text}"

    @property
    def title(self) -> str:
        """How the palette names it."""
        return f"{self.area}: {self.verb}"


def _on(where: str, *rows: tuple[str, str, str, str, str]) -> Iterator[Action]:
    """The actions of a screen or page: keys, action, verb, footer, text. A verb may name an area
    of its own, as ``table: filter``; else that is the screen's."""
    for keys, action, verb, footer, text in rows:
        named, _, short = verb.rpartition(": ")
        yield Action(action, keys, named or where, short, text, where, footer)


HELP_KEY = ("f1", "app.help", "help", "help", "Explains what has the focus.")
ALSO_HELP = ("question_mark,f1", "app.help", "help", "", "Explains what has the focus.")
CLOSE_KEY = ("escape", "dismiss", "close", "close", "Changes nothing.")
LEAVE_KEY = ("escape,q", "dismiss", "close", "close", "Changes nothing.")
COPY_KEY = ("y", "copy", "copy it", "copy", "To the clipboard, also over ssh (OSC 52).")
FILTER_KEY = ("slash", "focus_filter", "filter", "filter", "Rows that have all the words you type.")
SORT_KEYS = (
    ("s", "next_sort", "sort by the next column", "sort", "The same key again goes on."),
    ("S", "reverse_sort", "reverse the sorting", "", "Largest or smallest first."),
)
MERGE_KEY = ("I", "app.bring_records", "bring in records", "", "From another machine: a file.")
SAVE_KEY = ("e", "export", "save to a file", "export", "As CSV, Markdown or JSON.")
HOME_KEY = ("escape", "app.go('ranking')", "go to the ranking", "", "The main screen.")
"""On most lists and pages."""
MEASURE = "Here, on SLURM, or rented."

ACTIONS: tuple[Action, ...] = (
    *_on(
        "left out",
        ("enter,space", "open_record", "open the whole record", "the whole record", "In words."),
        FILTER_KEY,
        *SORT_KEYS,
        SAVE_KEY,
        LEAVE_KEY,
        ALSO_HELP,
    ),
    *_on(
        "questions",
        ("enter", "take", "ask it again", "ask it again", "The fields are as they were then."),
        FILTER_KEY,
        LEAVE_KEY,
        ALSO_HELP,
    ),
    *_on(
        "palette",
        ("enter", "take", "do it", "do it", "The first of those that are found."),
        CLOSE_KEY,
        HELP_KEY,
    ),
    *_on("record", ("escape,q,enter,space", *CLOSE_KEY[1:]), COPY_KEY, ALSO_HELP),
    *_on(
        "confirm",
        ("enter", "answer(True)", "go on", "go on", "What the page says happens."),
        ("escape,q", "answer(False)", "go back", "back", "Nothing happens."),
    ),
    *_on("help", ("escape,q,f1,question_mark,enter", *CLOSE_KEY[1:])),
    *_on(
        "export",
        ("enter", "keep", "save", "save", "Another file is replaced only when asked twice."),
        CLOSE_KEY,
        HELP_KEY,
    ),
    *(
        each
        for where, verb, footer, text in (
            ("quote", "keep it", "keep", "If something is wrong, says what."),
            ("import", "read the file", "read", "What is shown: all of it, or nothing."),
            ("your figures", "count with them", "keep", "If something is wrong, says what."),
            ("records", "bring it in", "bring in", "All of it, or nothing."),
            ("own model", "keep the model", "keep", "If something is wrong, says what."),
            ("training", "ask about it", "ask", "If something is wrong, says what."),
        )
        for each in _on(where, ("enter", "keep", verb, footer, text), CLOSE_KEY, HELP_KEY)
    ),
    *_on(
        "grant",
        ("ctrl+s", "keep", "save and plan", "save and plan", "If all is right."),
        ("escape", "dismiss", "go back", "back", "Nothing is written."),
        HELP_KEY,
    ),
    *_on(
        "elsewhere",
        ("f5", "keep", "write or submit the job", "go on", "Submits only after it has asked."),
        ("f9", "cancel_job", "cancel the newest job", "cancel job", "What it measured is kept."),
        ("escape", "dismiss", "go back", "this machine", "To what is measured here."),
        HELP_KEY,
    ),
    *_on("reach", CLOSE_KEY, HELP_KEY),
    *_on("comparison", LEAVE_KEY, COPY_KEY),
    *_on(
        "ranking",
        ("enter,space", "open_build", "build: open it", "open", "Its offers; then all about it."),
        ("plus,equals_sign", "toggle_offers", "table: offers of a row", "offers", "Show or hide."),
        ("f", "app.fine_tune", "question: fine-tuning", "fine-tune", "LoRA, QLoRA, all weights."),
        ("H", "app.reach", "build: what else it trains", "reach", "Every model, with its days."),
        ("o", "next_choice('rule')", "question: change the order", "order", "Days, price, a run."),
        ("2", "show_panel('picture')", "picture: go to it", "picture", "Cost against time."),
        ("O", "app.add_owned", "question: your own machine", "own machine", "It costs nothing."),
        ("c", "app.compare", "build: compare two builds", "compare", "Marks one, then another."),
        ("M", "measure", "build: measure it", "measure", MEASURE),
        ("a", "app.add_quote", "build: add a quote", "add quote", "What you were quoted for it."),
        ("x", "show_excluded", "table: what is left out", "left out", "Those not ranked, and why."),
        ("e", "export", "table: save to a file", "export", "The table, or the picture."),
        ("z", "whole_screen", "picture: fill the screen", "", "The picture alone, and back."),
        ("1", "show_panel('table')", "table: go to the table", "", "The ranked builds."),
        ("3", "show_panel('detail')", "table: go to the detail", "", "The build in full."),
        ("y", "copy_row", "table: copy it", "", "The row, to the clipboard, also over ssh."),
        ("b", "focus_field('budget')", "question: set the budget", "", "What you can spend: 40k."),
        ("m", "focus_field('model')", "question: choose the model", "", "Type to search the list."),
        ("t", "focus_field('max_days')", "question: set the time limit", "", "Of a run: 60, 8w."),
        ("l", "app.assume('lifetime')", "question: what it assumes", "assumed", "On one page."),
        ("g", "focus_field('gpus')", "question: filter the GPUs", "", "Only these: H100."),
        ("h", "app.history", "question: history", "history", "The last ten: Enter asks one again."),
        ("U", "app.own_model", "question: your own model", "your model", "A config.json, a size."),
        ("ctrl+r", "restore_defaults", "question: restore the defaults", "", "^z undoes it."),
    ),
    *_on(
        "build",
        ("escape", "back", "back", "back", "To the whole page, then to the ranking."),
        ("E", "section('time')", "time and evidence", "evidence", "What its time rests on."),
        ("P", "section('price')", "price and quotes", "quotes", "Dated; add, correct, delete."),
        ("w", "section('running')", "running costs", "running", "Electricity, hosting, resale."),
        ("r", "section('rent')", "own or rent", "rent", "What the same GPUs cost by the hour."),
        ("u", "section('power')", "power and circuit", "circuit", "What your circuit carries."),
        ("M", "section('measure')", "measure it", "measure", MEASURE),
        ("D", "section('order')", "order it", "order", "Vendor, delivery, what to ask for."),
        ("a", "app.add_quote", "add a quote", "add quote", "What you were quoted for it."),
        ("c", "app.compare", "compare two builds", "compare", "With the one that you marked."),
        ("H", "app.reach", "what else it trains", "reach", "Every model, with its days."),
        ("y", "copy_page", "copy it", "", "The page, to the clipboard, also over ssh (OSC 52)."),
        ("right,n", "next_build(1)", "next build", "next", "The one below it in the ranking."),
        ("left,N", "next_build(-1)", "build before", "", "The one above it in the ranking."),
        MERGE_KEY,
        ("enter", "act", "go on", "", "What the section offers: measure, quotes, evidence."),
    ),
    *_on(
        "evidence",
        FILTER_KEY,
        ("1", "show_tab('times')", "show the times", "", "Every tried setting with its verdict."),
        ("2", "show_tab('sources')", "show the sources", "", "Who says so, and how they know."),
        ("3", "show_tab('predictions')", "show predictions too", "", "Beside what was measured."),
        *SORT_KEYS,
        ("space", "open_record", "open the full record", "open", "The whole row, in words."),
        MERGE_KEY,
        SAVE_KEY,
        ("y", "copy_row", "copy it", "", "The row, to the clipboard, also over ssh (OSC 52)."),
        HOME_KEY,
    ),
    *_on(
        "benchmark",
        ("B", "start", "begin", "begin", "Shows what it would do, and asks, before it measures."),
        ("C", "cancel", "cancel", "cancel", "What is done is kept; again: at once."),
        ("space", "open_record", "open the full record", "open", "All about one setting."),
        ("m", "focus_field('bench_model')", "choose the model", "model", "Type to search it."),
        ("J", "elsewhere", "measure elsewhere", "elsewhere", "A cluster or a rented GPU; jobs."),
        FILTER_KEY,
        ("t", "focus_field('bench_minutes')", "set the time limit", "", "The best so far counts."),
        ("escape", "leave_field", "go back", "", "To the table, from there to the ranking."),
    ),
    *_on(
        "prices",
        (*FILTER_KEY[:3], "", FILTER_KEY[4]),
        ("a", "add", "add a quote", "add", "What somebody asks of you, with its date."),
        ("A", "machine", "add a machine", "machine", "One that a vendor quoted to you."),
        ("O", "app.add_owned", "your own machine", "own", "Such as 2 x A6000: it costs nothing."),
        ("R", "correct", "replace the quote", "replace", "By a new one; the old one is kept."),
        ("d", "delete", "delete what is yours", "delete", "A quote or a machine of yours: asks."),
        ("i", "import", "import a CSV file", "", "A preview first; then all or nothing."),
        ("1", "show_tab('quotes')", "show the quotes", "", "Every quote, its age and marks."),
        ("2", "show_tab('rent')", "show own or rent", "own/rent", "Where the two break even."),
        *SORT_KEYS,
        ("space", "open_record", "open the full quote", "", "The whole row, in words."),
        SAVE_KEY,
        ("y", "copy_row", "copy it", "", "The row, to the clipboard, also over ssh (OSC 52)."),
        HOME_KEY,
    ),
    *_on(
        "plan",
        ("G", "focus_grant", "choose the grant", "grant", "The path of a grant.toml; Enter plans."),
        ("W", "write_grant", "write a grant here", "write", "With what is wrong, as you type."),
        ("X", "example", "plan the worked example", "example", "A grant that ships, to look at."),
        ("o", "next_objective", "change the order", "goal", "Cheapest, most runs, soonest."),
        ("e", "report", "save to a file", "report", "The report: PDF, XLSX, Markdown, CSV, JSON."),
        ("V", "view_report", "read the report", "read", "As it will look."),
        ("y", "copy_plan", "copy it", "", "The plan, to the clipboard, also over ssh (OSC 52)."),
        ("escape", "back", "stop or go back", "back", "Ends a search; else to the ranking."),
    ),
    *_on(
        EVERYWHERE,
        ("f2", "go('ranking')", "screen: ranking", "", "Machines for a budget and a model."),
        ("f3", "go('evidence')", "screen: evidence", "", "Times and sources, with verdicts."),
        ("f6", "go('benchmark')", "screen: benchmark", "", "Measure this machine: it asks first."),
        ("f8", "go('plan')", "screen: plan", "", "A grant's runs, and its report as PDF."),
        ("f7", "go('prices')", "screen: prices", "", "The ledger of quotes; owning or renting."),
        ("question_mark,f1", "help", "app: help", "help", "About what has the focus; all keys."),
        ("T", "next_theme", "app: next theme", "", "Dark, light, and the terminal's own colours."),
        ("ctrl+z", "undo", "app: undo the last change", "", "Of the question, or what is kept."),
        ("ctrl+y", "redo", "app: do it again", "", "What was undone last."),
        ("q,ctrl+q", "quit", "app: quit", "quit", "The question is kept for the next time."),
    ),
)
"""Of a screen the most important first: its footer shows as many as there is room for. A letter
means one thing, by its verb, on every screen and page."""


def actions_of(where: str) -> list[Action]:
    """The actions of one screen, without those that work everywhere."""
    return [action for action in ACTIONS if action.where == where]


def bindings_of(where: str) -> list[Binding]:
    """The bindings of one screen (or of the app itself)."""
    return [Binding(each.keys, each.action, each.title) for each in actions_of(where)]
