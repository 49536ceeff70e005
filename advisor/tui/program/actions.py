"""Every action once: bindings, footer, help and palette are all made from this list."""

from __future__ import annotations

from textual.binding import Binding

from advisor.tui.program.action import KEY_NAMES, Action
from advisor.tui.program.action import rows_of as _of
from advisor.tui.program.dialog_actions import DIALOG_ACTIONS, FILTER

__all__ = ["KEY_NAMES", "Action"]

EVERYWHERE = "everywhere"
RANKING = "ranking"
BUILD = "build"
EVIDENCE = "evidence"
BENCHMARK = "benchmark"
PRICES = "prices"
PLAN = "plan"

_REVERSE = ("S", "reverse_sort", "reverse the sorting", "", "Largest first, or smallest first.")
_COPY_ROW = (
    "y",
    "copy_row",
    "copy the selected row",
    "",
    "To the clipboard, over ssh too (OSC 52).",
)
_TO_RANKING = ("escape", "app.go('ranking')", "go to the ranking", "", "The main screen.")
ACTIONS: tuple[Action, ...] = (
    *DIALOG_ACTIONS,
    *_of(
        RANKING,
        "build",
        ("enter,space", "open_build", "open the selected build", "this build", "All about it."),
    ),
    *_of(
        RANKING,
        "table",
        (
            "slash",
            "focus_filter",
            "filter",
            "filter",
            "Type words; machines that have all of them.",
        ),
    ),
    *_of(
        RANKING,
        "question",
        (
            "o",
            "next_choice('rule')",
            "change the order",
            "order",
            "Fastest, cheapest, or cheapest a run first.",
        ),
    ),
    *_of(
        RANKING,
        "picture",
        ("2", "show_panel('picture')", "go to the picture", "picture", "Cost against time."),
        ("z", "whole_screen", "fill the screen", "", "The picture alone, and back."),
    ),
    *_of(
        RANKING,
        "build",
        (
            "c",
            "app.compare",
            "compare two builds",
            "compare",
            "Marks the selected build; again on another, both side by side.",
        ),
        (
            "M",
            "measure",
            "measure it",
            "measure",
            "Here, on a cluster (SLURM), or on a rented machine.",
        ),
        (
            "a",
            "app.add_quote",
            "add a quote",
            "add quote",
            "For the selected build: what somebody asks of you.",
        ),
    ),
    *_of(
        RANKING,
        "table",
        (
            "x",
            "show_excluded",
            "what is left out",
            "left out",
            "Every build that is not ranked, with the reason in words.",
        ),
        (
            "e",
            "export",
            "save the table or the picture",
            "export",
            "As CSV, Markdown, JSON, SVG or PNG.",
        ),
        (
            "s",
            "next_sort",
            "sort by the next column",
            "",
            "Machine, interval, chance, age of the price; places stay, and the order comes back.",
        ),
        _REVERSE,
        (
            "dollar_sign",
            "toggle_cost",
            "price or cost of a run",
            "a run",
            "Table and picture show the machine's price or what one run costs.",
        ),
        ("1", "show_panel('table')", "go to the table", "", "The ranked builds."),
        ("3", "show_panel('detail')", "go to the detail", "", "The selected build, in full."),
        _COPY_ROW,
        ("Y", "copy_table", "copy the table", "", "All rows as Markdown, to the clipboard."),
    ),
    *_of(
        RANKING,
        "question",
        ("b", "focus_field('budget')", "set the budget", "", "What you can spend: 40k."),
        ("m", "focus_field('model')", "choose the model", "", "Type to search the list."),
        ("t", "focus_field('max_days')", "set the time limit", "", "The longest run: 60, 8w."),
        ("l", "focus_field('lifetime')", "set the lifetime", "", "Years that it serves."),
        ("g", "focus_field('gpus')", "filter the GPUs", "", "Only these: RTX 5090, H100."),
        (
            "p",
            "next_choice('prices')",
            "change the prices",
            "",
            "The newest known prices, or those that the paper computes with.",
        ),
        (
            "v",
            "next_choice('evidence')",
            "change the evidence",
            "",
            "Sound evidence never ranks an impossible time; published takes all at face value.",
        ),
        (
            "h",
            "app.history",
            "history of questions",
            "history",
            "The last ten, and those that you named.",
        ),
        ("k", "app.keep_question", "keep this question", "keep", "Under a name of your own."),
        (
            "n",
            "app.own_model",
            "a model of your own",
            "own model",
            "From a config.json, a timm name or a size.",
        ),
        (
            "O",
            "app.add_owned",
            "a machine that you own",
            "own machine",
            "Such as 2 x A6000: it costs nothing, and its GPUs count in larger machines.",
        ),
        (
            "r",
            "restore_defaults",
            "restore the defaults",
            "",
            "Every field as it was shipped; ^z brings the question back.",
        ),
        (
            "ctrl+z",
            "undo",
            "undo the last change",
            "",
            "Takes back the last change of a field, or another question.",
        ),
    ),
    *_of(
        BUILD,
        "build",
        ("escape", "back", "back", "back", "To the whole page, then to the ranking."),
        (
            "e",
            "section('time')",
            "time and evidence",
            "evidence",
            "What its time rests on, and the records.",
        ),
        (
            "dollar_sign",
            "section('price')",
            "price and quotes",
            "quotes",
            "Each price with its date; add, correct, delete.",
        ),
        (
            "w",
            "section('running')",
            "running costs",
            "running",
            "Electricity, hosting, use, resale: yours to set.",
        ),
        ("r", "section('rent')", "own or rent", "rent", "What the same GPUs cost by the hour."),
        (
            "u",
            "section('power')",
            "power and circuit",
            "circuit",
            "What it draws, and what your outlet or circuit carries.",
        ),
        (
            "m",
            "section('measure')",
            "measure it",
            "measure",
            "Here, on a cluster, rented, or records brought in.",
        ),
        ("d", "section('order')", "order it", "order", "Vendor, delivery, what to ask for."),
        (
            "a",
            "app.add_quote",
            "add a quote",
            "add quote",
            "What somebody asks of you for this machine.",
        ),
        ("c", "app.compare", "compare", "compare", "With the build that you marked before."),
        ("o", "section('overview')", "all on one page", "", "Every section in a line or two."),
        ("y", "copy_page", "copy the page", "", "To the clipboard, over ssh too (OSC 52)."),
        ("right,n", "next_build(1)", "next build", "next", "The one below it in the ranking."),
        ("left,N", "next_build(-1)", "build before", "", "The one above it in the ranking."),
        ("enter", "act", "go on", "", "What the section offers: measure, quotes, evidence."),
    ),
    *_of(
        EVIDENCE,
        "evidence",
        FILTER,
        ("1", "show_tab('times')", "show the times", "", "Every tried setting with its verdict."),
        ("2", "show_tab('sources')", "show the sources", "", "Who says so, and how they know."),
        ("3", "show_tab('predictions')", "show predictions too", "", "Beside what was measured."),
        ("4", "show_tab('peers')", "show what peers have", "", "The paper's survey, and yours."),
        ("s", "next_sort", "sort by the next column", "sort", "The same key again goes on."),
        _REVERSE,
        ("space", "open_record", "open the full record", "open", "The whole row, in words."),
        ("e", "export", "save the table", "export", "As CSV, Markdown or JSON."),
        _COPY_ROW,
        _TO_RANKING,
    ),
    *_of(
        BENCHMARK,
        "benchmark",
        ("s", "start", "start", "start", "Shows what it would do, and asks, before it measures."),
        (
            "c",
            "cancel",
            "cancel",
            "cancel",
            "Ends the benchmark; finished trials are kept. Again: without waiting.",
        ),
        ("space", "open_record", "open the full record", "open", "All about one setting."),
        (
            "m",
            "focus_field('bench_model')",
            "choose the model",
            "model",
            "Type to search the list.",
        ),
        ("f", "fold", "show or fold what was left out", "", "Once a benchmark has ended."),
        ("e", "elsewhere", "measure elsewhere", "elsewhere", "A cluster or a rented GPU; jobs."),
        FILTER,
        (
            "n",
            "focus_field('bench_minutes')",
            "set the time limit",
            "",
            "It stops then, with the best so far.",
        ),
        ("escape", "leave_field", "go back", "", "To the table, from there to the ranking."),
    ),
    *_of(
        PRICES,
        "prices",
        (*FILTER[:3], "", FILTER[4]),
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
        _REVERSE,
        ("space", "open_record", "open the full quote", "", "The whole row, in words."),
        ("e", "export", "save the table or the picture", "", "As CSV, Markdown, JSON or SVG."),
        _COPY_ROW,
        _TO_RANKING,
    ),
    *_of(
        PLAN,
        "plan",
        ("g", "focus_grant", "choose the grant", "grant", "The path of a grant.toml; Enter plans."),
        ("n", "write_grant", "write a grant here", "write", "With what is wrong, as you type."),
        ("x", "example", "plan the worked example", "example", "A grant that ships, to look at."),
        ("o", "next_objective", "change the objective", "objective", "Cheapest, most, soonest."),
        ("t", "quick", "try what would change it, or not", "", "As --quick on the command line."),
        ("e", "report", "write the report", "report", "As PDF, XLSX, Markdown, CSV, JSON."),
        (
            "v",
            "view_report",
            "open the report",
            "open",
            "In the desktop's viewer; where there is none, its text here.",
        ),
        ("y", "copy_plan", "copy the plan", "", "To the clipboard, over ssh too (OSC 52)."),
        (
            "escape",
            "back",
            "stop or go back",
            "back",
            "Ends a search; else to the ranking.",
        ),
    ),
    *_of(
        EVERYWHERE,
        "screen",
        ("f2", "go('ranking')", "ranking", "", "The ranked builds for a budget and a model."),
        ("f3", "go('evidence')", "evidence", "", "Times and sources, with verdicts."),
        ("f6", "go('benchmark')", "benchmark", "", "Measure this machine: it asks first."),
        (
            "f8",
            "go('plan')",
            "plan",
            "",
            "A grant: runs, years, one budget; its report as PDF.",
        ),
        ("f7", "go('prices')", "prices", "", "The ledger of quotes; owning or renting."),
        ("f4", "go('welcome')", "welcome", "", "What this program does, with a sample."),
    ),
    *_of(
        EVERYWHERE,
        "app",
        (
            "j,ctrl+o",
            "jump",
            "jump to a field or list",
            "jump",
            "Shows a letter on each; press it.",
        ),
        (
            "question_mark,f1",
            "help",
            "help for what has the focus",
            "help",
            "Explains what has the focus, and lists the keys.",
        ),
        ("T", "next_theme", "next theme", "", "Dark, light, and the terminal's own colours."),
        ("f5", "reread", "read the store again", "", "It is also read when it changes."),
        ("q,ctrl+q", "quit", "quit", "quit", "The question is kept for the next time."),
    ),
)


def actions_of(where: str) -> list[Action]:
    """The actions of one screen, without those that work everywhere."""
    return [action for action in ACTIONS if action.where == where]


def bindings_of(where: str) -> list[Binding]:
    """The bindings of one screen (or of the app itself)."""
    return [action.binding() for action in actions_of(where)]
