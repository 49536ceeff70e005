"""Puts the built store into the wheel; everything else is in pyproject.toml."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithStore(build_py):
    """Copies results.duckdb beside the modules, so that the first answer needs no build."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            shutil.copyfile("results.duckdb", Path(self.build_lib, "advisor", "results.duckdb"))


setup(cmdclass={"build_py": BuildWithStore})
