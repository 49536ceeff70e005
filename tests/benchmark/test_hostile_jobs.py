"""What a hostile or careless hand types for a job: refused in a line, or harmless in the script."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from advisor.benchmark.benchmark_plan import Plan, make_job_plan
from advisor.benchmark.jobs.cluster_profile import ClusterProfile, read_profiles
from advisor.benchmark.jobs.job_files import SCRIPT, sbatch_text, slurm_lines
from advisor.benchmark.jobs.job_folder import changed, keep_job, kept_jobs, write_folder
from advisor.benchmark.jobs.slurm import number_in
from advisor.benchmark.measurement_request import Request
from advisor.cli.main import main
from advisor.store import Store
from advisor.tui.program.state import load_state
from advisor.typed_input import InputError
from bench_runner import untrusted_text
from bench_runner.records.journal import events_since

FAKE = Path(__file__).parent.parent / "fake_runner.py"
HOSTILE = [
    "gpu\n#SBATCH --account=dean",
    "gpu\r#SBATCH --account=dean",
    "gpu\u2028#SBATCH --account=dean",
    "$(touch pwned)",
    "`touch pwned`",
    "gpu;touch pwned",
    "gpu touch",
    "gpu'",
    'gpu"',
    "gpu\\",
    "--wrap=touch",
    "gpu#x",
    "\x1b]0;title\x07gpu",
    "gpu\x00",
    "gpu\u202eupg",
    "",
    "g" * 5000,
]
NAMES = ("partition", "account", "qos", "constraint", "gpu_type", "login")
PATHS = ("container", "venv", "python")
BAD_PATHS = [
    "/a\n#SBATCH --account=dean",
    "/a\rb",
    "/a\x1b[2J",
    "/\u202ea",
    "",
    " ",
    "-x",
    "/" * 900,
]


@pytest.fixture(autouse=True)
def _of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADVISOR_JOBS", str(tmp_path / "jobs"))
    monkeypatch.setenv("ADVISOR_SETTINGS", str(tmp_path / "settings.toml"))
    monkeypatch.setenv("FAKE_GPUS", "1:NVIDIA H200")
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def plan(store_path: Path) -> Plan:
    request = Request(
        recipe="pythia-160m",
        gpu_count=1,
        methods="naive",
        device="cpu",
        records_file=Path("records.jsonl"),
        work_directory=Path("work"),
    )
    return make_job_plan(Store(store_path), request)


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("name", [*NAMES, "modules"])
def test_a_name_that_is_more_than_a_name_is_refused(name: str, text: str) -> None:
    with pytest.raises(InputError) as caught:
        ClusterProfile(**{name: (text,) if name == "modules" else text})  # type: ignore[arg-type]
    said = str(caught.value)
    assert said.isprintable() and len(said) < 250


@pytest.mark.parametrize("text", BAD_PATHS)
@pytest.mark.parametrize("name", PATHS)
def test_a_path_that_is_no_line_of_a_script_is_refused(name: str, text: str) -> None:
    with pytest.raises(InputError) as caught:
        ClusterProfile(**{name: text})  # type: ignore[arg-type]
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("flag", "text"),
    [
        ("--constraint", "h100\n#SBATCH --uid=0"),
        ("--gpu-type", "h100:8,license"),
        ("--gpu-type", "nvidia_a100_3g.20gb"),
        ("--folder", "a\nb"),
        ("--folder", "a\x1b[2Jb"),
        ("--nodes", "0"),
        ("--gpus", "-1"),
        ("--time", "nan"),
        ("--time", "1:00\n"),
        ("--cpus-per-gpu", "2 --uid=0"),
        ("--memory-gib", "10 --uid=0"),
        ("--methods", "naive; touch pwned"),
        ("--cluster", "$(touch pwned)"),
        ("--format", "json"),
    ],
)
def test_what_is_typed_wrong_is_one_line_and_writes_nothing(
    own_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], flag: str, text: str
) -> None:
    words = ["bench", "--model", "pythia-160m", "--gpus", "1", "--on", "slurm", f"{flag}={text}"]
    before = sorted(tmp_path.iterdir())
    assert main([*words, "--store", str(own_store)]) == 2
    printed, said = capsys.readouterr()
    assert printed == "" and said.count("\n") == 1 and said.strip().isprintable()
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    "text",
    [
        '[slurm.x]\npartition = "gpu\\n#SBATCH --account=dean"',
        '[slurm."x\\ny"]\npartition = "gpu"',
        "[slurm.x]\ntime_minutes = 99999999",
        "[slurm.x]\ntime_minutes = true",
        '[slurm.x]\nmodules = "cuda"',
        '[slurm.x]\nmodules = ["cuda\\n"]',
        '[slurm.x]\nwrap = "touch pwned"',
        '[slurm.x]\ncontainer = "a.sif"\nvenv = "/v"',
        'slurm = "gpu"',
        "[slurm.x",
        "[slurm.x]\nmodules = " + "[" * 50_000,
        "[slurm." + "a." * 100_000 + "b]",
        "#" * 2**20,
        '[slurm.x]\nlogin = "you@host; touch pwned"',
    ],
)
def test_settings_are_held_to_the_same(tmp_path: Path, text: str) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(text + "\n")
    with pytest.raises(InputError) as caught:
        read_profiles(file)
    assert str(caught.value).isprintable() and "Expected `" not in str(caught.value)


def test_settings_and_lists_that_are_pipes_are_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(untrusted_text, "PATIENCE_S", 0.1)
    for name in ("settings.toml", "state.json", "job.out"):
        os.mkfifo(tmp_path / name)
    with pytest.raises(InputError, match="is a pipe"):
        read_profiles(tmp_path / "settings.toml")
    assert "no plain file" in (load_state(tmp_path / "state.json")[1] or "")
    assert events_since(tmp_path / "job.out") == ([], 0)
    monkeypatch.setenv("ADVISOR_JOBS", str(tmp_path))
    (tmp_path / "deep.json").write_text("[" * 100_000)
    os.mkfifo(tmp_path / "pipe.json")
    assert kept_jobs() == []


JOB = {
    "name": "a", "where": "slurm", "folder": "/tmp", "recipe_id": "r", "device": "d",
    "gpu_count": 1, "made_at": "2026-11-22T10:00", "number": "7",
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("number", "--me"), ("number", "-u root"), ("number", 7), ("number", "7 8"),
        ("number", "٧"), ("made_at", 5), ("folder", 7), ("folder", "a\x00b"), ("recipe_id", [1]),
        ("device", "\x1b[2J"), ("merged", "x"), ("merged", -1), ("gpu_count", True),
        ("where", "elsewhere"), ("ended", {}), ("submitted_at", 1.5),
    ],
)  # fmt: skip
def test_a_kept_job_of_odd_values_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: object
) -> None:
    # Its number is handed to scancel, which would take --me for all jobs of this person.
    monkeypatch.setenv("ADVISOR_JOBS", str(tmp_path))
    (tmp_path / "a.json").write_text(json.dumps(JOB))
    (tmp_path / "b.json").write_text(json.dumps(JOB | {"name": "b", name: value}))
    assert [job.name for job in kept_jobs()] == ["a"]
    assert main(["jobs", "--format", "json"]) == 0
    assert main(["jobs", "merge", "b"]) == 2


def test_a_slow_look_at_a_job_takes_back_nothing_that_another_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADVISOR_JOBS", str(tmp_path))
    (tmp_path / "a.json").write_text(json.dumps(JOB))
    (slow,) = kept_jobs()
    (fast,) = kept_jobs()
    changed(changed(fast, merged=23), ended="COMPLETED")
    assert changed(slow, merged=13) == kept_jobs()[0]
    assert (kept_jobs()[0].merged, kept_jobs()[0].ended) == (23, "COMPLETED")
    # Submitted again: the end of the former job is not its end.
    again = keep_job(replace(kept_jobs()[0], number="8", ended=None))
    changed(slow, ended="TIMEOUT")
    assert kept_jobs() == [again]
    for path in (tmp_path, tmp_path / "a.json"):
        assert path.stat().st_mode & 0o077 == 0, "its owner's alone"


ODD = 'it\'s $(touch pwned) `touch pwned` "x" & ; #SBATCH é'


def in_a_shell(plan: Plan, profile: ClusterProfile, folder: Path, path: str) -> str:
    """What a job's script prints, run by bash as SLURM would."""
    write_folder(folder, plan.request.recipe_text, {SCRIPT: sbatch_text(plan, profile, "bench")})
    assert (folder / SCRIPT).stat().st_mode & 0o077 == 0, "its owner's alone"
    run = subprocess.run(
        ["bash", SCRIPT],
        cwd=folder,
        env={"PATH": path, "SLURM_SUBMIT_DIR": str(folder), "FAKE_GPUS": "1:NVIDIA H200"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert not list(folder.parent.rglob("pwned")), run.stderr
    return run.stdout


def test_odd_paths_stand_in_the_script_as_they_are(plan: Plan, tmp_path: Path) -> None:
    place = tmp_path / ODD
    (place / "bin").mkdir(parents=True)
    python = place / "bin" / "python3"
    python.write_text(f'#!/bin/bash\nshift 2\nexec "{sys.executable}" {FAKE} good "$@"\n')
    python.chmod(0o755)
    (place / "bin" / "activate").write_text('echo "the environment is active"\n')
    profile = ClusterProfile(python=str(python), venv=str(place), partition="gpu")
    text = sbatch_text(plan, profile, "bench")
    asked = [line for line in text.splitlines() if line.startswith("#SBATCH")]
    assert not any("touch" in line for line in asked)
    printed = in_a_shell(plan, profile, tmp_path / "jobs" / ODD, "/usr/bin:/bin")
    assert "the environment is active" in printed and "search-finished" in printed


def test_a_container_and_modules_run_the_same_benchmark(plan: Plan, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    python = tools / "python3"
    python.write_text(f'#!/bin/bash\nshift 2\nexec "{sys.executable}" {FAKE} good "$@"\n')
    # As Apptainer: its own options, the image, then the command in this very process.
    apptainer = tools / "apptainer"
    apptainer.write_text(
        '#!/bin/bash\n[ "$1" = exec ] || exit 9; shift\n'
        'while [[ $1 == --* ]]; do case $1 in --nv) shift;; *) echo "$1 $2"; shift 2;; esac; done\n'
        'echo "image $1"; shift; exec "$@"\n'
    )
    for tool in (python, apptainer):
        tool.chmod(0o755)
    # A batch shell does not always know what a login shell knows.
    profile = ClusterProfile(container=f"/images/{ODD}.sif", modules=("cuda/12.8", "apptainer"))
    text = sbatch_text(plan, profile, "bench")
    assert "module load cuda/12.8 || exit 2\nmodule load apptainer || exit 2" in text
    text = text.replace(". /etc/profile", 'module() { echo "loaded $2"; }')
    folder = tmp_path / "job"
    write_folder(folder, plan.request.recipe_text, {SCRIPT: text})
    run = subprocess.run(
        ["bash", SCRIPT],
        cwd=folder,
        env={
            "PATH": f"{tools}:/usr/bin:/bin",
            "SLURM_SUBMIT_DIR": str(folder),
            "FAKE_GPUS": "1:NVIDIA H200",
        },
        capture_output=True,
        text=True,
        check=True,
    )
    said = run.stdout.splitlines()
    assert said[:5] == [
        "loaded cuda/12.8",
        "loaded apptainer",
        f"--bind {folder}",
        f"--pwd {folder}",
        f"image /images/{ODD}.sif",
    ]
    assert "search-finished" in said[-1] and not list(tmp_path.rglob("pwned"))


@pytest.mark.parametrize("name", [ODD, "-rf", "plain", "a b"])
def test_the_lines_to_type_do_what_they_say_whatever_the_folder_is_called(
    tmp_path: Path, name: str
) -> None:
    far, tools = tmp_path / "far home", tmp_path / "tools"
    for folder in (far, tools):
        folder.mkdir()
    folder = tmp_path / name
    folder.mkdir()
    (folder / SCRIPT).write_text("exit 0\n")
    scripts = {
        # Far away there is a shell, and one more in between.
        "ssh": f'cd "{far}" && exec bash -c "$2"',
        "scp": (
            'r=; [ "$1" = -r ] && { r=-r; shift; }\n'
            'from=${1/#you@host:/$FAR/}; to=${2/#you@host:/$FAR/}; cp $r -- "$from" "$to"'
        ),
        "sbatch": 'echo done > records.jsonl; test -e "$1" && echo "Submitted batch job 7"',
        "advisor": "cat records.jsonl",
    }
    for tool, body in scripts.items():
        (tools / tool).write_text(f"#!/bin/bash\n{body}\n")
        (tools / tool).chmod(0o755)
    lines = slurm_lines("pythia-160m-1gpu-abc", str(folder), "you@host", here=False)
    (tmp_path / "elsewhere").mkdir()
    run = subprocess.run(
        ["bash", "-e", "-c", "\n".join(lines)],
        cwd=tmp_path / "elsewhere",
        env={"PATH": f"{tools}:/usr/bin:/bin", "FAR": str(far)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == "Submitted batch job 7\ndone\n"
    assert not list(tmp_path.rglob("pwned"))
    shutil.rmtree(far)
    # Where SLURM is on this machine.
    line = slurm_lines("pythia", str(folder), None, here=True)[0]
    run = subprocess.run(
        ["bash", "-c", line],
        env={"PATH": f"{tools}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Submitted" in run.stdout and not list(tmp_path.rglob("pwned"))


@pytest.mark.parametrize(
    ("printed", "number"),
    [
        ("123\n", "123"),
        ("123;hopper\n", "123"),
        ("Welcome: 512 nodes\n  123  \nYou have 12 h left\n", "123"),
        ("Submitted batch job 123\n", "123"),
        ("Submitted batch job 123 on cluster hopper\nbye 7\n", "123"),
        ("job id: 123\n", "123"),
        ("welcome\n", None),
        ("", None),
    ],
)
def test_a_jobs_number_is_found_wherever_sbatch_prints_it(printed: str, number: str | None) -> None:
    assert number_in(printed) == number
