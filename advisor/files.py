"""Files that are written whole or not at all, and those that only their owner may read."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path


def typed_path(text: str | Path) -> Path:
    """A path as somebody typed it: ``~`` is the home folder, and ``~nobody`` a name like others."""
    return Path(os.path.expanduser(text))  # Path's own raises on an unknown user


def is_file(path: Path) -> bool:
    """Whether a file of this name is there; False for what cannot be a name."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def keep_private(path: Path) -> None:
    """Leave a file or folder of this program's to its owner alone, also one that is old."""
    with suppress(OSError):
        mode = path.lstat().st_mode
        if mode & 0o077 and not stat.S_ISLNK(mode):
            path.chmod(stat.S_IMODE(mode) & 0o700)


def private_folder(folder: Path) -> None:
    """Make a folder that its owner alone may enter, where none is; else leave it to its owner
    alone, unless others use it too: a home, or one that several users share. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    shared = bool(folder.stat().st_mode & stat.S_ISVTX)
    if not shared and folder != Path(os.path.expanduser("~")):
        keep_private(folder)


def check_folder(path: Path) -> None:
    """Raise OSError where no file can be made beside ``path``, before hours go into one."""
    import tempfile

    # Rights tell nothing of a disk that is mounted to be read, or is full.
    tempfile.TemporaryFile(dir=path.absolute().parent).close()


def write_whole(
    path: Path, content: str | bytes, *, overwrite: bool, private: bool = False
) -> None:
    """Write a file so that it is there in full or not at all. Raises OSError, which names it.

    Without ``overwrite`` a file that is already there is left alone, also one that another
    program made a moment ago (FileExistsError). Only its owner reads what is ``private``.
    """
    write_all_whole([(path, content)], overwrite=overwrite, private=private)


def write_all_whole(
    files: Sequence[tuple[Path, str | bytes]],
    *,
    overwrite: bool,
    folders: Iterable[Path] = (),
    private: bool = False,
) -> None:
    """The same of several files: where one cannot be written, as on a full disk, none is.

    ``folders`` are made for them, and taken away again where nothing is written.
    """
    with ExitStack() as undo, ExitStack() as drafts:
        for folder in folders:
            if not folder.is_dir():
                folder.mkdir()
                undo.callback(_remove_empty, folder)
        drafted = []
        for path, content in files:
            with _names(path):
                if not path.name:
                    raise FileNotFoundError(errno.ENOENT, "No file is named", str(path))
                drafted.append((_draft(path, content, drafts, 0o600 if private else 0o666), path))
        for draft, path in drafted:
            with _names(path):
                if overwrite:
                    draft.replace(path)
                else:
                    place(draft, path)
                    undo.callback(path.unlink, missing_ok=True)
        undo.pop_all()


def _draft(path: Path, content: str | bytes, drafts: ExitStack, mode: int) -> Path:
    """The content beside ``path`` under another name, which goes with ``drafts``."""
    import secrets  # late: every start asks whether what it reads is private

    from bench_runner.launch.leftovers import in_use, sweep

    sweep(path.parent, r"\.[0-9a-f]{16}\.tmp")
    draft = path.with_name(f".{secrets.token_hex(8)}.tmp")
    with open(draft, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
        # Not before it is there: a disk that is read-only refuses to take away what is not.
        drafts.callback(draft.unlink, missing_ok=True)
        drafts.enter_context(in_use(draft))
        file.write(content.encode() if isinstance(content, str) else content)
        file.flush()
        os.fsync(file.fileno())
    return draft


@contextmanager
def _names(path: Path) -> Iterator[None]:
    """An error names this file: it may name none, or the draft, of which nobody knows."""
    try:
        yield
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        raise


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()


def place(draft: Path, path: Path) -> None:
    """Give the finished draft its name. Raises FileExistsError where that is taken."""
    try:
        path.hardlink_to(draft)
    except FileExistsError:
        raise
    except OSError:
        # A file system without hard links (FAT, some network shares): the check and the rename
        # are then two steps, and a file made between them would be replaced.
        if path.exists():
            raise FileExistsError(f"{path} is already there") from None
        draft.replace(path)
