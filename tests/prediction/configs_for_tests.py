"""What tests of configuration files have in common."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from advisor.prediction.model.targets import Run

TEXT = Run(batch_size=512, tokens=300e9)
IMAGES = Run(batch_size=1024, images=1.28e9)

LLAMA_32_1B: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 2048,
    "num_hidden_layers": 16,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 64,
    "intermediate_size": 8192,
    "vocab_size": 128256,
    "tie_word_embeddings": True,
    "max_position_embeddings": 131072,
    "torch_dtype": "bfloat16",
}


def write(folder: Path, content: object) -> Path:
    path = folder / "config.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path
