"""An SVG picture as a PNG, for slides and e-mails."""

from __future__ import annotations

import tempfile
from pathlib import Path

PIXELS_PER_INCH = 192.0
"""An SVG's pixel is 1/96 inch: twice its own size, sharp on a projector."""
MISSING = (
    'a PNG needs typst: pip install -c constraints.txt ".[report]" in the folder you cloned, or '
    "save it as .svg"
)


def png_bytes(svg: str) -> bytes:
    """The picture as a PNG. Raises ValueError where typst is not installed."""
    try:
        import typst
    except ImportError:
        raise ValueError(MISSING) from None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "picture.svg").write_text(svg, encoding="utf-8")
        (folder / "page.typ").write_text(
            '#set page(width: auto, height: auto, margin: 0pt)\n#image("picture.svg")\n',
            encoding="utf-8",
        )
        made = typst.compile(str(folder / "page.typ"), root=name, format="png", ppi=PIXELS_PER_INCH)
    assert isinstance(made, bytes)  # one page
    return made
