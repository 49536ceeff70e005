"""Times a training that knows nothing of it, in each Python that the user's command starts.

Python loads this file first where its folder leads PYTHONPATH. It takes the folder off `sys.path`,
runs the sitecustomize that it hides, and waits for torch, which it never imports by itself. Then
PyTorch's optimiser hooks tell when a step ends. Standard library only, any Python from 3.8: it runs
in the user's environment. What fails here must not fail the training.
"""

from __future__ import annotations

import atexit
import json
import os
import sys
import time
from contextlib import suppress
from functools import partial
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from typing import Any

FOLDER = "ADVISOR_BENCH_FOLDER"
"""Where each process writes its events, one JSON object a line."""
WATCHER = "ADVISOR_BENCH_PID"
"""The process that reads them; a training does not outlive it."""
WINDOW_S = "ADVISOR_BENCH_WINDOW_S"
WITHIN = 0.03
"""Two windows of steps whose medians are this near have settled."""
FEWEST, MOST = 3, 100
"""Steps of a window."""
PATIENCE = 20
"""Windows after which what does not settle is taken as it is."""
GIB = 1024.0**3


class Watch:
    """The steps of this process, from the first to the profile."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.window_s = float(os.environ.get(WINDOW_S, "5"))
        self.watcher = int(os.environ.get(WATCHER, "0"))
        self.ticking: int | None = None
        """Whose steps are counted: the first optimiser's, or a DeepSpeed engine's."""
        self.by_engine = False
        self.partitions = 1
        """Over how many processes ZeRO shares what the optimiser holds."""
        self.optimizer: Any = None
        self.count = 0
        self.marks: list[Any] = []
        self.seconds: list[float] = []
        self.clock: list[float] = []
        self.profile: Any = None
        self.profile_until = 0
        self.stop_at: int | None = None
        self.written = False
        self.looked_s = time.monotonic()

    @property
    def leads(self) -> bool:
        """Whether this process decides and is profiled."""
        group = self.group()
        if group is not None:
            return bool(group.get_rank() == 0)
        return os.environ.get("RANK", "0") in ("", "0")

    def group(self) -> Any:
        """torch.distributed where its processes know each other; launchers need not say a rank."""
        found = sys.modules.get("torch.distributed")
        together = found is not None and found.is_available() and found.is_initialized()
        return found if together else None

    def write(self, event: str, **fields: Any) -> None:
        """Append one event to this process's file."""
        line = json.dumps({"event": event, **fields}) + "\n"
        with open(os.path.join(self.folder, f"{os.getpid()}.jsonl"), "a") as file:
            file.write(line)

    def stepped(self, optimizer: Any, *_: Any) -> None:
        """After each step of each optimiser."""
        if not self.by_engine:
            self.tick(optimizer, optimizer)

    def tick(self, source: Any, optimizer: Any, by_engine: bool = False) -> None:
        """A training step has ended, where ``source`` is whose steps are counted."""
        leave = False
        try:
            if by_engine and not self.by_engine:
                self.by_engine, self.ticking, self.count = True, None, 0
                self.marks, self.seconds, self.clock = [], [], []
            if self.ticking is None:
                self.ticking, self.optimizer = id(source), optimizer
            if self.ticking == id(source):
                leave = self.step()
        except Exception as error:
            if not self.written:
                self.written = True
                self.write("fault", message=f"{type(error).__name__}: {error}")
        if leave:
            self.ticking = -1
            raise SystemExit(0)

    def step(self) -> bool:
        """Take in one step; whether the training is to end now."""
        self.count += 1
        if self.count == 1:
            atexit.register(self.left)
            self.write("stepping", leads=self.leads, uuids=self.devices()[1])
        if self.profile is None and not self.written:
            self.mark()
        self.look()
        if self.stop_at is not None and self.count >= self.stop_at:
            if not self.written:
                self.write_times("followed")
            return True
        if not self.leads:
            return False
        if self.profile is not None:
            self.profile.step()
            if self.count >= self.profile_until:
                self.end_profile()
        elif not self.written and self.settled():
            self.write_times("settled" if self.alike() else "not settled")
            self.begin_profile()
        return False

    def look(self) -> None:
        """Whether the others are to end, and whether anybody reads."""
        with suppress(OSError), open(os.path.join(self.folder, "stop")) as file:
            self.stop_at = int(file.read() or "0")
        now = time.monotonic()
        if self.watcher and now - self.looked_s > 0.5:
            self.looked_s = now
            try:
                os.kill(self.watcher, 0)
            except OSError as error:
                self.stop_at = 0 if isinstance(error, ProcessLookupError) else self.stop_at

    # Seconds of steps: between events on the GPU, which waits for nobody, else on the host's clock

    def mark(self) -> None:
        torch = sys.modules["torch"]
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            if torch.cuda.is_current_stream_capturing():
                return
            event = torch.cuda.Event(enable_timing=True)
            event.record()
            self.marks.append((event, time.monotonic()))
            while len(self.marks) > 1 and self.marks[1][0].query():
                self.take(self.marks[0][0].elapsed_time(self.marks[1][0]) / 1000)
        else:
            self.marks.append((time.perf_counter(), time.monotonic()))
            if len(self.marks) > 1:
                self.take(self.marks[1][0] - self.marks[0][0])

    def take(self, seconds: float) -> None:
        self.clock.append(self.marks.pop(0)[1])
        self.seconds.append(seconds)

    def windows(self) -> tuple[list[float], list[float]]:
        """The last two windows of steps; the first steps of all compile and allocate."""
        known = self.seconds[2:]
        if len(known) < 2 * FEWEST:
            return [], []
        typical = median(known)
        size = min(MOST, max(FEWEST, round(self.window_s / max(typical, 1e-6))))
        return known[-2 * size : -size], known[-size:]

    def alike(self) -> bool:
        before, last = self.windows()
        if not before or len(before) < len(last):
            return False
        return abs(median(last) / median(before) - 1) <= WITHIN

    def settled(self) -> bool:
        _, last = self.windows()
        return self.alike() or (bool(last) and len(self.seconds) > PATIENCE * len(last))

    def write_times(self, how: str) -> None:
        """What is known of the steps of this process."""
        self.written = True
        torch = sys.modules["torch"]
        before, last = self.windows()
        sample = before + last if before else self.seconds[1:]
        used, uuids = self.devices()
        cuda, group = torch.cuda, self.group()
        self.write(
            "timed",
            how=how,
            leads=self.leads,
            rank=group.get_rank() if group else int(os.environ.get("RANK") or 0),
            restarts=int(os.environ.get("TORCHELASTIC_RESTART_COUNT") or 0),
            world=group.get_world_size() if group else int(os.environ.get("WORLD_SIZE") or 1),
            seconds=sample,
            began=self.clock[-len(sample)] if sample else None,
            ended=time.monotonic(),
            device=cuda.get_device_name(used[0]) if used else None,
            devices=len(used),
            uuids=uuids,
            allocated_gib=max([cuda.max_memory_allocated(each) / GIB for each in used] or [0.0]),
            reserved_gib=max([cuda.max_memory_reserved(each) / GIB for each in used] or [0.0]),
            torch=torch.__version__,
            max_steps=own_limit(),
            **weights(self.optimizer, self.partitions),
        )

    def left(self) -> None:
        """The training has ended by itself: with some steps its time is known, unprofiled."""
        with suppress(Exception):
            if not self.written and len(self.seconds) >= 2 + 2 * FEWEST:
                self.write_times("ended first")

    def devices(self) -> tuple[list[int], list[str]]:
        """The GPUs that this process trains on: their numbers, and their names for NVML."""
        cuda = sys.modules["torch"].cuda
        if not (cuda.is_available() and cuda.is_initialized()):
            return [], []
        used = [each for each in range(cuda.device_count()) if cuda.max_memory_reserved(each)]
        uuids = [getattr(cuda.get_device_properties(each), "uuid", None) for each in used]
        return used, [f"GPU-{uuid}" for uuid in uuids if uuid is not None]

    def begin_profile(self) -> None:
        torch = sys.modules["torch"]
        steps = max(1, min(10, round(2.0 / max(median(self.seconds[-FEWEST:]), 1e-6))))
        kinds = [torch.profiler.ProfilerActivity.CPU]
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            kinds.append(torch.profiler.ProfilerActivity.CUDA)
        path = os.path.join(self.folder, "trace.json")

        def keep(profile: Any) -> None:
            profile.export_chrome_trace(path)

        try:
            self.profile = torch.profiler.profile(
                activities=kinds,
                schedule=torch.profiler.schedule(wait=0, warmup=1, active=steps),
                on_trace_ready=keep,
            )
            self.profile.start()
        except Exception as error:  # the training profiles itself
            self.profile = None
            self.end("not-profiled", message=f"{type(error).__name__}: {error}")
        else:
            self.profile_until = self.count + steps + 1
            self.write("profiling", steps=steps)

    def end_profile(self) -> None:
        self.profile.stop()
        self.profile = None
        self.end("profiled", trace=os.path.join(self.folder, "trace.json"))

    def end(self, event: str, **fields: Any) -> None:
        """All was seen: every process ends at the same step, so that none waits for another."""
        self.write(event, **fields)
        self.stop_at = self.count + 2
        with open(os.path.join(self.folder, "stop.new"), "w") as file:
            file.write(str(self.stop_at))
        os.replace(os.path.join(self.folder, "stop.new"), os.path.join(self.folder, "stop"))


def median(values: list[float]) -> float:
    """The middle one; of an even number the upper."""
    return sorted(values)[len(values) // 2]


def weights(optimizer: Any, partitions: int) -> dict[str, Any]:
    """Bytes of what is trained, its gradients and its states, as this process holds them."""
    found = {"parameters": 0, "parameter_bytes": 0, "state_bytes": 0, "sharded": partitions > 1}
    for group in getattr(optimizer, "param_groups", ()):
        for each in group["params"]:
            whole = each.numel()
            local = each.to_local() if hasattr(each, "to_local") else each
            size = local.numel() * local.element_size()
            flat = type(each).__name__ == "FlatParameter"
            found["sharded"] = found["sharded"] or flat or local is not each
            found["parameters"] += whole * partitions
            found["parameter_bytes"] += whole * partitions * each.element_size()
            found["state_bytes"] += size * (2 if each.grad is not None else 1)
            for state in optimizer.state.get(each, {}).values():
                if hasattr(state, "numel"):
                    state = state.to_local() if hasattr(state, "to_local") else state
                    found["state_bytes"] += state.numel() * state.element_size()
    return found


def own_limit() -> int | None:
    """The steps that a Trainer of transformers or Lightning will make, from the frames above."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        owner = frame.f_locals.get("self")
        room = type(owner).__module__.partition(".")[0]
        if room in ("lightning", "pytorch_lightning"):
            owner = getattr(owner, "trainer", owner)
            steps = getattr(owner, "estimated_stepping_batches", None)
        else:
            steps = getattr(getattr(owner, "state", None), "max_steps", None)
        if isinstance(steps, (int, float)) and 0 < steps < 1e15:
            return int(steps)
        frame = frame.f_back
    return None


def with_torch(watch: Watch, module: Any) -> None:
    """Hook into every optimiser."""
    try:
        module.register_optimizer_step_post_hook(watch.stepped)
    except AttributeError:
        watch.write("fault", message="this torch is older than 2.0 and has no optimiser hooks")


def with_deepspeed(watch: Watch, module: Any) -> None:
    """A step of DeepSpeed's engine may be many of its optimiser, or none."""
    step = module.DeepSpeedEngine.step

    def stepped(self: Any, *arguments: Any, **named: Any) -> Any:
        before = self.global_steps
        result = step(self, *arguments, **named)
        if self.global_steps != before:
            sharded = self.zero_optimization_stage() > 0
            watch.partitions = int(os.environ.get("WORLD_SIZE") or 1) if sharded else 1
            watch.tick(self, getattr(self, "basic_optimizer", None), by_engine=True)
        return result

    module.DeepSpeedEngine.step = stepped


class Finder(MetaPathFinder):
    """Finds what others find, and looks at two modules once they are loaded."""

    def __init__(self, watch: Watch) -> None:
        self.then: dict[str, Any] = {
            "torch.optim.optimizer": with_torch,
            "deepspeed.runtime.engine": with_deepspeed,
        }
        self.watch = watch

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """None where the name is another's."""
        then = self.then.get(name)
        if then is None:
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None and spec.loader is not None:
                loaded = partial(self.loaded, spec.loader.exec_module, then)
                spec.loader.exec_module = loaded  # type: ignore[method-assign]
                return spec
        return None

    def loaded(self, load: Any, then: Any, module: Any) -> None:
        """Load a module as ever, then look at it."""
        load(module)
        with suppress(Exception):  # a version that is not known here
            then(self.watch, module)


def run_hidden() -> None:
    """The sitecustomize that this one stands before, as if this one were not there."""
    here = os.path.dirname(os.path.realpath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.realpath(entry or ".") != here]
    spec = PathFinder.find_spec("sitecustomize")
    if spec is not None and spec.loader is not None:
        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


if __name__ == "sitecustomize" and os.path.isdir(os.environ.get(FOLDER, "")):
    sys.meta_path.insert(0, Finder(Watch(os.environ[FOLDER])))
if __name__ == "sitecustomize":
    run_hidden()
