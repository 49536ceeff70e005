"""Every action once: bindings, footer, help and palette are made from this list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from textual.binding import Binding

EVERYWHERE = "everywhere"
RANKING = "ranking"
BUILD = "build"
EVIDENCE = "evidence"
BENCHMARK = "benchmark"
PRICES = "prices"
PLAN = "plan"
LEFT_OUT = "left out"
QUESTIONS = "questions"
NAME = "name"
RECORD = "record"
CONFIRM = "confirm"
HELP = "help"
EXPORT = "export"
QUOTE = "quote"
IMPORT = "import"
MODEL = "own model"
GRANT = "grant"
ELSEWHERE = "elsewhere"
COMPARE = "comparison"
WELCOME = "welcome"
JUMP = "jump"

KEY_NAMES = {
    "question_mark": "?",
    "slash": "/",
    "dollar_sign": "$",
    **{"plus": "+", "equals_sign": "=", "minus": "-", "asterisk": "*"},
    **{"up": "↑", "down": "↓", "left": "←", "right": "→"},
    **{
        f"shift+{name}": f"Shift {arrow}"
        for name, arrow in zip(("up", "down", "left", "right"), "↑↓←→", strict=True)
    },
    **{"pageup": "PgUp", "pagedown": "PgDn", "home": "Home", "end": "End"},
    "enter": "Enter",
    "space": "Space",
    "ctrl+o": "^o",
    "ctrl+s": "^s",
    **{f"f{number}": f"F{number}" for number in range(1, 10)},
    "ctrl+q": "^q",
    "ctrl+z": "^z",
    "ctrl+p": "^p",
    "escape": "Esc",
}


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
        return " ".join(KEY_NAMES.get(key, key) for key in self.keys.split(","))

    @property
    def title(self) -> str:
        """How the palette names it."""
        return f"{self.area}: {self.verb}"

    def binding(self) -> Binding:
        """The same as Textual wants it; the id lets a keymap move it."""
        return Binding(
            self.keys,
            self.action,
            self.footer or self.title,
            show=bool(self.footer),
            key_display=self.key,
            tooltip=self.text,
            id=f"{self.where}.{self.action}",
        )


def _on(where: str, area: str, *rows: tuple[str, str, str, str, str]) -> Iterator[Action]:
    """The actions of a screen or page: keys, action, verb, footer, text. A verb may name another
    area than the screen's, as ``table: filter``."""
    for keys, action, verb, footer, text in rows:
        named, _, short = verb.rpartition(": ")
        yield Action(action, keys, named or area, short, text, where, footer)


HELP_KEY = ("f1", "app.help", "help", "help", "Explains what has the focus.")
CLOSE_KEY = ("escape", "dismiss", "close", "close", "Changes nothing.")
"""On most pages."""

ACTIONS: tuple[Action, ...] = (
    *_on(
        LEFT_OUT,
        "left out",
        ("enter,space", "open", "open the whole record", "the whole record", "In words."),
        ("slash", "focus_filter", "filter", "filter", "Rows that have all the words you type."),
        ("s", "next_sort", "sort by the next column", "sort", "The same key again goes on."),
        ("S", "reverse_sort", "reverse the sorting", "", "Largest or smallest first."),
        ("escape,q,x", "dismiss", "close", "close", "Changes nothing."),
        ("question_mark,f1", "app.help", "help", "", "Explains what has the focus."),
    ),
    *_on(
        QUESTIONS,
        "questions",
        ("enter", "take", "ask it again", "ask it again", "The fields are as they were then."),
        ("d", "forget", "forget it", "forget", "It leaves this list; nothing else changes."),
        ("slash", "focus_filter", "filter", "filter", "Rows that have all the words you type."),
        ("escape,q,h", "dismiss", "close", "close", "Changes nothing."),
        ("question_mark,f1", "app.help", "help", "", "Explains what has the focus."),
    ),
    *_on(
        NAME,
        "question",
        ("enter", "keep", "keep the question", "keep", "If something is wrong, says what."),
        CLOSE_KEY,
        HELP_KEY,
    ),
    *_on(
        RECORD,
        "record",
        ("escape,q,enter,space", "dismiss", "close", "close", "Changes nothing."),
        ("y", "copy", "copy it", "copy", "To the clipboard, also over ssh (OSC 52)."),
        ("question_mark,f1", "app.help", "help", "", "Explains what has the focus."),
    ),
    *_on(
        CONFIRM,
        "before it starts",
        ("enter,y", "answer(True)", "go on", "go on", "What stands above happens."),
        ("escape,n,q", "answer(False)", "go back", "back", "Nothing happens."),
    ),
    *_on(
        HELP,
        "help",
        ("escape,q,f1,question_mark,enter", "dismiss", "close", "close", "Changes nothing."),
    ),
    *_on(
        EXPORT,
        "save",
        ("enter", "save", "save", "save", "Another file is replaced only when asked twice."),
        ("down", "step(1)", "next kind of file", "", "CSV, Markdown, JSON, SVG, PNG."),
        ("up", "step(-1)", "kind of file before", "", "CSV, Markdown, JSON, SVG, PNG."),
        CLOSE_KEY,
        HELP_KEY,
    ),
    *_on(
        QUOTE,
        "prices",
        ("enter", "keep", "keep it", "keep", "If something is wrong, says what."),
        ("escape", "cancel", "close", "close", "Changes nothing."),
        HELP_KEY,
    ),
    *_on(
        IMPORT,
        "prices",
        ("enter", "keep", "read the file", "read", "What is shown: all of it, or nothing."),
        ("escape", "cancel", "close", "close", "Changes nothing."),
        HELP_KEY,
    ),
    *_on(
        MODEL,
        "model",
        ("enter", "keep", "keep the model", "keep", "If something is wrong, says what."),
        CLOSE_KEY,
        HELP_KEY,
    ),
    *_on(
        GRANT,
        "grant",
        ("ctrl+s", "save", "save and plan", "save and plan", "If all is right."),
        ("escape", "leave", "go back", "back", "Nothing is written."),
        HELP_KEY,
    ),
    *_on(
        ELSEWHERE,
        "elsewhere",
        ("f5", "go_on", "write or submit the job", "go on", "Submits only after it has asked."),
        ("f9", "cancel_job", "cancel the newest job", "cancel job", "What it measured is kept."),
        ("escape", "dismiss", "go back", "this machine", "To what is measured here."),
        HELP_KEY,
    ),
    *_on(
        COMPARE,
        "comparison",
        ("escape,c", "dismiss", "close", "close", "Changes nothing."),
        ("y", "copy", "copy it", "copy", "To the clipboard, also over ssh (OSC 52)."),
    ),
    *_on(
        WELCOME,
        "welcome",
        ("enter", "try_sample", "try the sample", "try the sample", "$40,000 for Pythia 1B."),
        ("escape", "app.go('ranking')", "go to the ranking", "", "The main screen."),
    ),
    *_on(
        JUMP,
        "jump",
        CLOSE_KEY,
    ),
    *_on(
        RANKING,
        "ranking",
        ("enter,space", "open_build", "build: open it", "this build", "All about it."),
        ("slash", "focus_filter", "table: filter", "filter", "Machines that have all the words."),
        (
            "o",
            "next_choice('rule')",
            "question: change the order",
            "order",
            "By days, price or cost of a run.",
        ),
        ("2", "show_panel('picture')", "picture: go to it", "picture", "Cost against time."),
        ("z", "whole_screen", "picture: fill the screen", "", "The picture alone, and back."),
        (
            "c",
            "app.compare",
            "build: compare two builds",
            "compare",
            "Marks the selected build; again on another, both side by side.",
        ),
        ("M", "measure", "build: measure it", "measure", "Here, on SLURM, or rented."),
        ("a", "app.add_quote", "build: add a quote", "add quote", "What you were quoted for it."),
        ("x", "show_excluded", "table: what is left out", "left out", "Those not ranked, and why."),
        (
            "e",
            "export",
            "table: save it or the picture",
            "export",
            "As CSV, Markdown, JSON, SVG or PNG.",
        ),
        ("s", "next_sort", "table: sort by the next column", "", "Ranks do not change."),
        ("S", "reverse_sort", "table: reverse the sorting", "", "Largest or smallest first."),
        (
            "dollar_sign",
            "toggle_cost",
            "table: price or cost of a run",
            "a run",
            "Table and picture show the machine's price or what one run costs.",
        ),
        ("1", "show_panel('table')", "table: go to the table", "", "The ranked builds."),
        ("3", "show_panel('detail')", "table: go to the detail", "", "The build in full."),
        ("y", "copy_row", "table: copy the row", "", "To the clipboard, also over ssh."),
        ("Y", "copy_table", "table: copy the table", "", "All rows as Markdown, to the clipboard."),
        ("b", "focus_field('budget')", "question: set the budget", "", "What you can spend: 40k."),
        ("m", "focus_field('model')", "question: choose the model", "", "Type to search the list."),
        (
            "t",
            "focus_field('max_days')",
            "question: set the time limit",
            "",
            "The longest run: 60, 8w.",
        ),
        ("l", "focus_field('lifetime')", "question: set the lifetime", "", "Years that it serves."),
        ("g", "focus_field('gpus')", "question: filter the GPUs", "", "Only these: H100."),
        (
            "p",
            "next_choice('prices')",
            "question: change the prices",
            "",
            "The newest known prices, or those that the paper computes with.",
        ),
        (
            "v",
            "next_choice('evidence')",
            "question: change the evidence",
            "",
            "Sound evidence never ranks an impossible time; published takes all at face value.",
        ),
        ("h", "app.history", "question: history", "history", "The last ten, and the named."),
        ("k", "app.keep_question", "question: keep this question", "keep", "Under a name."),
        (
            "n",
            "app.own_model",
            "question: a model of your own",
            "own model",
            "From a config.json, a timm name or a size.",
        ),
        ("O", "app.add_owned", "question: your own machine", "own machine", "It costs nothing."),
        ("r", "restore_defaults", "question: restore the defaults", "", "^z brings yours back."),
        ("ctrl+z", "undo", "question: undo the last change", "", "A field, or the whole question."),
    ),
    *_on(
        BUILD,
        "build",
        ("escape", "back", "back", "back", "To the whole page, then to the ranking."),
        ("e", "section('time')", "time and evidence", "evidence", "What its time rests on."),
        (
            "dollar_sign",
            "section('price')",
            "price and quotes",
            "quotes",
            "With dates; add, correct, delete.",
        ),
        ("w", "section('running')", "running costs", "running", "Electricity, hosting, resale."),
        ("r", "section('rent')", "own or rent", "rent", "What the same GPUs cost by the hour."),
        ("u", "section('power')", "power and circuit", "circuit", "What your circuit carries."),
        ("m", "section('measure')", "measure it", "measure", "Here, on a cluster, rented."),
        ("d", "section('order')", "order it", "order", "Vendor, delivery, what to ask for."),
        ("a", "app.add_quote", "add a quote", "add quote", "What you were quoted for it."),
        ("c", "app.compare", "compare", "compare", "With the build that you marked before."),
        ("o", "section('overview')", "all on one page", "", "Every section in a line or two."),
        ("y", "copy_page", "copy the page", "", "To the clipboard, also over ssh (OSC 52)."),
        ("right,n", "next_build(1)", "next build", "next", "The one below it in the ranking."),
        ("left,N", "next_build(-1)", "build before", "", "The one above it in the ranking."),
        ("enter", "act", "go on", "", "What the section offers: measure, quotes, evidence."),
    ),
    *_on(
        EVIDENCE,
        "evidence",
        ("slash", "focus_filter", "filter", "filter", "Rows that have all the words you type."),
        ("1", "show_tab('times')", "show the times", "", "Every tried setting with its verdict."),
        ("2", "show_tab('sources')", "show the sources", "", "Who says so, and how they know."),
        ("3", "show_tab('predictions')", "show predictions too", "", "Beside what was measured."),
        ("4", "show_tab('peers')", "show what peers have", "", "The paper's survey, and yours."),
        ("s", "next_sort", "sort by the next column", "sort", "The same key again goes on."),
        ("S", "reverse_sort", "reverse the sorting", "", "Largest or smallest first."),
        ("space", "open_record", "open the full record", "open", "The whole row, in words."),
        ("e", "export", "save the table", "export", "As CSV, Markdown or JSON."),
        ("y", "copy_row", "copy the selected row", "", "To the clipboard, also over ssh (OSC 52)."),
        ("escape", "app.go('ranking')", "go to the ranking", "", "The main screen."),
    ),
    *_on(
        BENCHMARK,
        "benchmark",
        ("s", "start", "start", "start", "Shows what it would do, and asks, before it measures."),
        ("c", "cancel", "cancel", "cancel", "What is done is kept; again: at once."),
        ("space", "open_record", "open the full record", "open", "All about one setting."),
        ("m", "focus_field('bench_model')", "choose the model", "model", "Type to search it."),
        ("f", "fold", "show or fold what was left out", "", "Once a benchmark has ended."),
        ("e", "elsewhere", "measure elsewhere", "elsewhere", "A cluster or a rented GPU; jobs."),
        ("slash", "focus_filter", "filter", "filter", "Rows that have all the words you type."),
        (
            "n",
            "focus_field('bench_minutes')",
            "set the time limit",
            "",
            "Then the best so far stands.",
        ),
        ("escape", "leave_field", "go back", "", "To the table, from there to the ranking."),
    ),
    *_on(
        PRICES,
        "prices",
        ("slash", "focus_filter", "filter", "", "Rows that have all the words you type."),
        ("a", "add", "add a quote", "add", "What somebody asks of you, with its date."),
        ("m", "machine", "add a machine", "machine", "One that a vendor quoted to you."),
        ("O", "owned", "a machine that you own", "own", "Such as 2 x A6000: it costs nothing."),
        ("c", "correct", "correct the quote", "correct", "A new quote; the old one is kept."),
        ("d", "delete", "delete what is yours", "delete", "A quote or a machine of yours: asks."),
        ("i", "import", "import a CSV file", "", "A preview first; then all or nothing."),
        ("1", "show_tab('quotes')", "show the quotes", "", "Every quote, its age and marks."),
        ("2", "show_tab('rent')", "show own or rent", "", "Where renting and owning break even."),
        ("n", "next_build(1)", "next build to own or rent", "own/rent", "Its break-even."),
        ("N", "next_build(-1)", "build before", "", "The break-even of the build before."),
        ("s", "next_sort", "sort by the next column", "", "The same key again goes on."),
        ("S", "reverse_sort", "reverse the sorting", "", "Largest or smallest first."),
        ("space", "open_record", "open the full quote", "", "The whole row, in words."),
        ("e", "export", "save the table or the picture", "", "As CSV, Markdown, JSON or SVG."),
        ("y", "copy_row", "copy the selected row", "", "To the clipboard, also over ssh (OSC 52)."),
        ("escape", "app.go('ranking')", "go to the ranking", "", "The main screen."),
    ),
    *_on(
        PLAN,
        "plan",
        ("g", "focus_grant", "choose the grant", "grant", "The path of a grant.toml; Enter plans."),
        ("n", "write_grant", "write a grant here", "write", "With what is wrong, as you type."),
        ("x", "example", "plan the worked example", "example", "A grant that ships, to look at."),
        ("o", "next_objective", "change the objective", "objective", "Cheapest, most, soonest."),
        ("t", "quick", "try what would change it, or not", "", "As --quick on the command line."),
        ("e", "report", "write the report", "report", "As PDF, HTML, XLSX, Markdown, CSV, JSON."),
        ("v", "view_report", "open the report", "open", "On the desktop, or its text here."),
        ("y", "copy_plan", "copy the plan", "", "To the clipboard, also over ssh (OSC 52)."),
        ("escape", "back", "stop or go back", "back", "Ends a search; else to the ranking."),
    ),
    *_on(
        EVERYWHERE,
        "everywhere",
        ("f2", "go('ranking')", "screen: ranking", "", "Machines for a budget and a model."),
        ("f3", "go('evidence')", "screen: evidence", "", "Times and sources, with verdicts."),
        ("f6", "go('benchmark')", "screen: benchmark", "", "Measure this machine: it asks first."),
        ("f8", "go('plan')", "screen: plan", "", "A grant's runs, and its report as PDF."),
        ("f7", "go('prices')", "screen: prices", "", "The ledger of quotes; owning or renting."),
        ("f4", "go('welcome')", "screen: welcome", "", "What this program does, with a sample."),
        ("j,ctrl+o", "jump", "app: jump to a field", "jump", "Shows a letter on each; press it."),
        (
            "question_mark,f1",
            "help",
            "app: help",
            "help",
            "Explains what has the focus, and lists the keys.",
        ),
        ("T", "next_theme", "app: next theme", "", "Dark, light, and the terminal's own colours."),
        ("f5", "reread", "app: read the store again", "", "It is also read when it changes."),
        ("q,ctrl+q", "quit", "app: quit", "quit", "The question is kept for the next time."),
    ),
)
"""Of a screen the most important first: its footer shows as many as there is room for."""


def actions_of(where: str) -> list[Action]:
    """The actions of one screen, without those that work everywhere."""
    return [action for action in ACTIONS if action.where == where]


def bindings_of(where: str) -> list[Binding]:
    """The bindings of one screen (or of the app itself)."""
    return [action.binding() for action in actions_of(where)]
