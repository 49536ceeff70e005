"""What transformers loads of scikit-learn where it is installed; nobody calls any of it."""

from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return lambda *arguments, **keywords: None
