"""The actions of the pages that lie over a screen: each has keys, a word and a sentence too."""

from __future__ import annotations

from advisor.tui.program.action import Action, rows_of

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

_FORM_HELP = ("f1", "app.help", "help", "help", "Explains what has the focus.")
_PAGE_HELP = ("question_mark,f1", "app.help", "help", "", "Explains what has the focus.")
FILTER = ("slash", "focus_filter", "filter", "filter", "Type words; rows that have all of them.")
_COPY = ("y", "copy", "copy it", "copy", "To the clipboard, over ssh too (OSC 52).")


def _close(keys: str = "escape", action: str = "dismiss") -> tuple[str, str, str, str, str]:
    return (keys, action, "close", "close", "Back to the screen below; nothing is changed.")


def _keep(what: str) -> tuple[str, str, str, str, str]:
    return ("enter", "keep", f"keep the {what}", "keep", "Where something is wrong it says what.")


DIALOG_ACTIONS: tuple[Action, ...] = (
    *rows_of(
        LEFT_OUT,
        "left out",
        ("enter,space", "open", "open the whole record", "the whole record", "In words."),
        FILTER,
        ("s", "next_sort", "sort by the next column", "sort", "The same key again goes on."),
        ("S", "reverse_sort", "reverse the sorting", "", "Largest first, or smallest first."),
        _close("escape,q,x"),
        _PAGE_HELP,
    ),
    *rows_of(
        QUESTIONS,
        "questions",
        ("enter", "take", "ask it again", "ask it again", "The fields are as they were then."),
        ("d", "forget", "forget it", "forget", "It leaves this list; nothing else changes."),
        FILTER,
        _close("escape,q,h"),
        _PAGE_HELP,
    ),
    *rows_of(NAME, "question", _keep("question"), _close(), _FORM_HELP),
    *rows_of(RECORD, "record", _close("escape,q,enter,space"), _COPY, _PAGE_HELP),
    *rows_of(
        CONFIRM,
        "before it starts",
        ("enter,y", "answer(True)", "go on", "go on", "What stands above happens."),
        ("escape,n,q", "answer(False)", "go back", "back", "Nothing happens."),
    ),
    *rows_of(HELP, "help", _close("escape,q,f1,question_mark,enter")),
    *rows_of(
        EXPORT,
        "save",
        ("enter", "save", "save", "save", "Another file is replaced only when asked twice."),
        ("down", "step(1)", "next kind of file", "", "CSV, Markdown, JSON, SVG, PNG."),
        ("up", "step(-1)", "kind of file before", "", "CSV, Markdown, JSON, SVG, PNG."),
        _close(),
        _FORM_HELP,
    ),
    *rows_of(QUOTE, "prices", _keep("quote or the machine"), _close(action="cancel"), _FORM_HELP),
    *rows_of(
        IMPORT,
        "prices",
        ("enter", "go_on", "read the file", "read", "What is shown: all of it, or nothing."),
        _close(action="cancel"),
        _FORM_HELP,
    ),
    *rows_of(MODEL, "model", _keep("model"), _close(), _FORM_HELP),
    *rows_of(
        GRANT,
        "grant",
        (
            "ctrl+s",
            "save",
            "save and plan",
            "save and plan",
            "Where something is wrong it says so.",
        ),
        ("escape", "leave", "go back", "back", "Nothing is written."),
        _FORM_HELP,
    ),
    *rows_of(
        ELSEWHERE,
        "elsewhere",
        ("f5", "go_on", "write or submit the job", "go on", "Submits only after it has asked."),
        ("f9", "cancel_job", "cancel the newest job", "cancel job", "What it measured is kept."),
        ("escape", "dismiss", "go back", "this machine", "To what is measured here."),
        _FORM_HELP,
    ),
    *rows_of(COMPARE, "comparison", _close("escape,c"), _COPY),
    *rows_of(
        WELCOME,
        "welcome",
        ("enter", "try_sample", "try the sample", "try the sample", "$40,000 for Pythia 1B."),
        ("escape", "app.go('ranking')", "go to the ranking", "", "The main screen."),
    ),
    *rows_of(JUMP, "jump", _close()),
)
