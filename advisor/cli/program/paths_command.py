"""``advisor paths``: where the store and the user's own files lie, whether or not they exist."""

from __future__ import annotations

import argparse

from advisor.cli.command import ANSWERED, store_path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """None of its own."""


def run(options: argparse.Namespace) -> int:
    """Print a name and a path a line."""
    from platformdirs import user_config_path, user_data_path, user_state_path

    from advisor.benchmark.jobs.cluster_profile import settings_file
    from advisor.benchmark.jobs.job_folder import jobs_folder

    name = "gpu-grant-advisor"
    print(f"store\t{store_path(options)}")
    print(f"data\t{user_data_path(name)}")
    print(f"state\t{user_state_path(name)}")
    print(f"config\t{user_config_path(name)}")
    print(f"settings\t{settings_file()}")
    print(f"jobs\t{jobs_folder()}")
    return ANSWERED
