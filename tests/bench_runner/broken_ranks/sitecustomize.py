"""Breaks the ranks of a trial: above the micro-batch $OOM_ABOVE the rank $OOM_RANK, or each, runs
out of memory; the rank $HANG_RANK hangs. Python loads this file where its folder is on PYTHONPATH.
"""

import os
import sys
import time
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder


class _Finder(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name != "bench_runner.worker.timed_trainer":
            return None
        spec = PathFinder.find_spec(name, path, target)
        load = spec.loader.exec_module

        def exec_module(module):
            load(module)
            module.TimedTrainer.training_step = _breaking(module.TimedTrainer.training_step)

        spec.loader.exec_module = exec_module
        return spec


def _breaking(step):
    rank, limit = os.environ.get("RANK", "0"), os.environ.get("OOM_ABOVE")

    def broken(trainer, *arguments, **keywords):
        if os.environ.get("HANG_RANK") == rank:
            time.sleep(3600)
        size = trainer.get_train_dataloader().micro_batch_size
        if limit and size > int(limit) and os.environ.get("OOM_RANK", rank) == rank:
            raise MemoryError(f"injected: out of memory above micro-batch {limit}")
        return step(trainer, *arguments, **keywords)

    return broken


sys.meta_path.insert(0, _Finder())
