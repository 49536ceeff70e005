"""On a CPU DeepSpeed compiles, for a minute, an exchange that its inference alone calls: not here.

Python loads this file where its folder is on PYTHONPATH. DeepSpeed then takes its way for machines
whose compiler cannot build that: `inference_all_reduce` would use gloo, as all of training does.
"""

import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder


class _Finder(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name != "deepspeed.comm.torch":
            return None
        spec = PathFinder.find_spec(name, path, target)
        load = spec.loader.exec_module

        def exec_module(module):
            load(module)
            assert module.build_shm_op  # else DeepSpeed has changed, and this file is in vain
            module.build_shm_op = lambda: None

        spec.loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, _Finder())
