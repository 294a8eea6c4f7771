"""Builds what `make bench` times: bench_ops by opbind, its peers by torch's extension build."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from extensions import load

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "build/bench"


def build_ours(jobs: int) -> None:
    command = [sys.executable, "-m", "opbind", "build", str(HERE / "bench_ops.yaml")]
    command += ["--out", str(BUILD / "generated"), "--build-dir", str(BUILD)]
    subprocess.run([*command, "--jobs", str(jobs), str(HERE / "bench_kernels.cpp")], check=True)


def build_peers(jobs: int) -> None:
    load("bench_peers", sorted((HERE / "peers").glob("*.cpp")), BUILD / "lib", jobs)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--jobs", type=int, default=2)
    jobs = options.parse_args().jobs
    build_ours(jobs)
    build_peers(jobs)


if __name__ == "__main__":
    main()
