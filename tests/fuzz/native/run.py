"""`make fuzz-runtime`: core on the null host under libFuzzer, AddressSanitizer and UBSan.

    signatures    any bytes as signatures of a PythonArgParser
    calls         any bytes as calls, with objects that change what is being read

Each target runs for --minutes; both run at once. Then the inputs that were kept run once more,
compiled for coverage. Needs clang with libFuzzer, and llvm-cov. What breaks a rule is left in
build/fuzz/TARGET, with libFuzzer's report in TARGET.log.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path

REPO = Path(__file__).parents[3]
HERE = Path(__file__).parent
BUILD = REPO / "build/fuzz"
TARGETS = ("signatures", "calls")

_SANITIZED = ("-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all")
_COUNTED = ("-fsanitize=fuzzer", "-fprofile-instr-generate", "-fcoverage-mapping")
# Longer inputs say the same more slowly.
_LONGEST = {"signatures": 512, "calls": 256}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--clang", default="clang++")
    arguments = parser.parse_args()
    for target in TARGETS:
        _compile(arguments.clang, target, target, _SANITIZED)
        _compile(arguments.clang, target, f"{target}-counted", _COUNTED)
    _write_seeds()
    running = {target: _start(target, arguments.minutes) for target in TARGETS}
    results = {target: process.wait() for target, process in running.items()}
    for target, code in results.items():
        leaks = _replay(target, target, {}) if code == 0 else 0
        print(f"{target}: {'BROKEN' if code or leaks else 'nothing found'}; {_figures(target)}")
        results[target] = code or leaks
    _report_coverage()
    return int(any(results.values()))


def _compile(clang: str, target: str, name: str, flags: Sequence[str]) -> None:
    BUILD.mkdir(parents=True, exist_ok=True)
    library = sysconfig.get_config_var("LIBDIR")
    version = sysconfig.get_config_var("LDVERSION")
    sources = [HERE / f"{target}.cpp", *sorted((REPO / "csrc/runtime/core").glob("*.cpp"))]
    sources += sorted((REPO / "tests/null_host").glob("*.cpp"))
    includes = [f"-I{REPO / folder}" for folder in ("csrc/runtime", "tests/null_host")]
    python = ["-isystem", sysconfig.get_path("include"), f"-L{library}", f"-lpython{version}"]
    command = [clang, "-std=c++20", "-O1", "-g", "-Wall", "-Wextra", "-Werror", *flags, *includes]
    link = [*python, f"-Wl,-rpath,{library}", "-o", BUILD / name]
    subprocess.run([*map(str, [*command, *sources, *link])], check=True)


# --- running --------------------------------------------------------------------------------------


def _write_seeds() -> None:
    """Signatures of every type; calls start from nothing."""
    for target in TARGETS:
        (BUILD / f"{target}-corpus").mkdir(exist_ok=True)
    for i, text in enumerate(_signatures()):
        (BUILD / "signatures-corpus" / f"seed{i}").write_text(text)


def _signatures() -> Iterator[str]:
    import echo_library
    import signature_pairs

    plans = (echo_library.planned(), signature_pairs.random_plan(seed=2026))
    for function in (f for plan in plans for f in plan.functions):
        yield "\v".join(map(signature_pairs.marked, function.signatures))


def _environment() -> dict[str, str]:
    # The interpreter inside of the target finds what this one has.
    paths = [str(HERE), *filter(None, sys.path)]
    # Python's own allocator would hide what becomes of an object.
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONMALLOC": "malloc"}


def _start(target: str, minutes: float) -> subprocess.Popen[bytes]:
    artifacts = BUILD / target
    options = [f"-max_total_time={minutes * 60:.0f}", f"-max_len={_LONGEST[target]}"]
    # Looking for leaks after each run takes a hundred times as long; _replay does so once.
    options += ["-detect_leaks=0", "-print_final_stats=1", f"-artifact_prefix={artifacts}-"]
    command = [artifacts, BUILD / f"{target}-corpus", *options]
    with (BUILD / f"{target}.log").open("wb") as log:
        return subprocess.Popen(
            [*map(str, command)], stdout=log, stderr=log, env=_environment(), cwd=BUILD
        )


def _figures(target: str) -> str:
    text = (BUILD / f"{target}.log").read_text(errors="replace")
    runs = re.findall(r"number_of_executed_units:\s*(\d+)", text)
    edges = re.findall(r" cov: (\d+) ", text)
    inputs = len(list((BUILD / f"{target}-corpus").iterdir()))
    return f"{(runs or ['?'])[-1]} runs, {(edges or ['?'])[-1]} edges, {inputs} inputs kept"


# --- coverage -------------------------------------------------------------------------------------


def _report_coverage() -> None:
    """Lines of core that the kept inputs of all targets reach."""
    profiles = [BUILD / f"{target}.profraw" for target in TARGETS]
    for target, profile in zip(TARGETS, profiles, strict=True):
        _replay(target, f"{target}-counted", {"LLVM_PROFILE_FILE": str(profile)})
    merged = BUILD / "all.profdata"
    subprocess.run(["llvm-profdata", "merge", "-o", merged, *profiles], check=True)
    binaries = [BUILD / f"{target}-counted" for target in TARGETS]
    objects = [f"-object={binary}" for binary in binaries[1:]]
    command = ["llvm-cov", "report", binaries[0], *objects, f"-instr-profile={merged}"]
    subprocess.run([*map(str, [*command, REPO / "csrc/runtime/core"])], check=True)


def _replay(target: str, binary: str, environment: dict[str, str]) -> int:
    """Runs what was kept once, and looks for leaks where the binary can."""
    command = [BUILD / binary, "-runs=0", f"-artifact_prefix={BUILD / target}-"]
    with (BUILD / f"{binary}-replay.log").open("wb") as log:
        return subprocess.run(
            [*map(str, command), str(BUILD / f"{target}-corpus")],
            env=_environment() | environment,
            cwd=BUILD,
            stdout=log,
            stderr=log,
        ).returncode


if __name__ == "__main__":
    sys.exit(main())
