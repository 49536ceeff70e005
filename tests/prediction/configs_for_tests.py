"""Configuration files: published ones, and how tests write and read them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from advisor.prediction.model.askable_models import Ask, Target
from advisor.prediction.model.hf_config import target_of_config
from bench_runner.models.model_types import model_types

TEXT = Ask(batch_size=512, tokens=300e9)
IMAGES = Ask(batch_size=1024, images=1.28e9)
_FILE = Path(__file__).parent / "published_configs.json"
PARAMETERS: dict[str, int] = {}
"""Of each published model as the library builds it (transformers 5.17)."""
PUBLISHED: dict[str, dict[str, Any]] = {}
"""What its config.json says of it."""
for _name, _content in json.loads(_FILE.read_text()).items():
    PARAMETERS[_name] = _content.pop("parameters")
    PUBLISHED[_name] = _content
LLAMA_32_1B = PUBLISHED["llama-3.2-1b"]


def write(folder: Path, content: object) -> Path:
    path = folder / "config.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def read(folder: Path, content: dict[str, Any], run: Ask | None = None) -> Target:
    """The target of a file with this content."""
    kind = model_types().get(str(content.get("model_type")))
    images = kind is not None and kind.family in ("vit", "convnet")
    return target_of_config(write(folder, content), run or (IMAGES if images else TEXT))
