"""Pages on a Dask cluster of real processes: a scheduler and two workers that share no folder with the driver."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from hierlib.lab import cluster
from hierlib.lab.project import UserError
from hierlib.lab.record import read_record

DASK = str(Path(sys.executable).parent / "dask")

# Asleep only the first time: whoever takes the page over finishes it.
SLEEPS_ONCE = """
import os, pathlib, time
seen = pathlib.Path(os.environ["SEEN"])
if not seen.exists():
    seen.touch()
    pathlib.Path("asleep").touch()
    time.sleep(120)
"""
ASLEEP = "*/tmp*/run/asleep"


class Machines:
    """A scheduler, and workers with a home each: their working, scratch and temporary folder."""

    def __init__(self, root):
        self.root, self.processes, self.address = root, {}, ""

    def start(self, name, *words, **environment):
        home = self.root / name
        home.mkdir()
        with (home / "log.txt").open("w") as log:
            self.processes[name] = subprocess.Popen(
                [DASK, *words, "--no-dashboard"], cwd=home, env=os.environ | environment, stdout=log, stderr=log
            )

    def start_scheduler(self, eventually, *more):
        card = self.root / "scheduler.json"
        self.start("scheduler", "scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(card), *more)
        eventually(lambda: card.exists() and card.read_text().rstrip().endswith("}"), "the scheduler listens", seconds=40)
        self.address = json.loads(card.read_text())["address"]

    def start_worker(self, name):
        home = str(self.root / name)
        words = ("worker", self.address, "--nthreads", "1", "--no-nanny", "--local-directory", home)
        self.start(name, *words, TMPDIR=home, SEEN=str(self.root / "seen"))

    def stop(self):
        for process in self.processes.values():
            process.kill()
            process.wait()


@pytest.fixture
def machines(tmp_path, eventually):
    made = Machines(tmp_path)
    try:
        made.start_scheduler(eventually)
        yield made
    finally:
        made.stop()


def test_a_killed_worker_costs_time_but_no_page_and_results_live_only_at_the_driver(toy, machines, eventually):
    for name in ("one", "two"):
        machines.start_worker(name)
    toy.add_page("sleeps", SLEEPS_ONCE)
    run = toy.start("run", "--scheduler", machines.address)
    eventually(lambda: list(machines.root.glob(ASLEEP)), "a worker has the page", seconds=60)
    (mark,) = machines.root.glob(ASLEEP)
    victim = mark.relative_to(machines.root).parts[0]
    machines.processes[victim].kill()
    said, complaint = run.communicate(timeout=60)
    assert (run.returncode, complaint) == (0, ""), said
    assert "2 run" in said
    for page in ("squares", "sleeps"):
        (record,) = toy.records(page)
        assert read_record(record).verdicts
    (survivor,) = {"one", "two"} - {victim}
    assert list(toy.working.iterdir()) == []
    left = [path.name for path in (machines.root / survivor).rglob("*") if path.suffix in (".json", ".ipynb")]
    assert left == [], "a worker keeps nothing of a page"
    assert toy.hier("run").stdout == "2 up to date\n"


def test_a_scheduler_that_dies_fails_the_page_with_one_sentence(toy, machines, eventually):
    machines.start_worker("one")
    toy.add_page("sleeps", SLEEPS_ONCE)
    run = toy.start("run", "toy/sleeps", "--scheduler", machines.address)
    eventually(lambda: list(machines.root.glob(ASLEEP)), "a worker has the page", seconds=60)
    machines.processes["scheduler"].kill()
    _, complaint = run.communicate(timeout=60)
    assert (run.returncode, complaint) == (1, "failed: toy/sleeps: the scheduler is gone; what was finished is kept\n")


def test_a_scheduler_without_workers_is_named(machines, monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 1)
    with pytest.raises(UserError, match=f"the Dask scheduler at {machines.address} has no workers; start one with"):
        cluster.connect(machines.address)


HERE = cluster.setup_here()
STRANGERS = {
    "code": (HERE._replace(code="another"), "another hierlib than the driver"),
    "torch": (HERE._replace(packages=HERE.packages | {"torch": "1.0"}), r"torch [\d.]+ instead of 1\.0"),
}


@pytest.mark.parametrize("driver, said", STRANGERS.values(), ids=STRANGERS)
def test_a_worker_with_other_code_or_packages_refuses_the_page(toy, driver, said):
    _, _, job = toy.job()
    outcome, files = cluster.remote(job, "", timeout=10, commit="", driver=driver)
    assert outcome.status == "failed" and files == {}
    assert re.fullmatch(f"toy/squares: refused by a worker that has {said}", outcome.message)


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL], ids=["interrupted", "killed"])
def test_pages_that_nobody_waits_for_any_more_are_stopped_on_the_workers(toy, machines, eventually, end):
    machines.start_worker("one")
    toy.add_page("sleeps", SLEEPS_ONCE)
    run = toy.start("run", "toy/sleeps", "--scheduler", machines.address)
    eventually(lambda: list(machines.root.glob(ASLEEP)), "a worker has the page", seconds=60)
    run.send_signal(end)
    run.communicate(timeout=30)
    worker = psutil.Process(machines.processes["one"].pid)
    eventually(lambda: not worker.children(recursive=True), "the page and its kernel are gone", seconds=30)
    assert worker.is_running() and not list(machines.root.glob(ASLEEP))


@pytest.fixture
def certificates(tmp_path, monkeypatch):
    """A key and a certificate of our own, in Dask's configuration for everybody who is started here."""
    if not (openssl := shutil.which("openssl")):
        pytest.skip("no openssl on this machine to make a certificate with")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    words = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost", "-keyout", key, "-out"]
    subprocess.run([openssl, *words, certificate], check=True, capture_output=True)
    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TLS__CA_FILE", str(certificate))
    for role in ("CLIENT", "SCHEDULER", "WORKER"):
        monkeypatch.setenv(f"DASK_DISTRIBUTED__COMM__TLS__{role}__CERT", str(certificate))
        monkeypatch.setenv(f"DASK_DISTRIBUTED__COMM__TLS__{role}__KEY", str(key))


def test_an_encrypted_cluster_runs_pages(toy, certificates, tmp_path, eventually):
    machines = Machines(tmp_path)
    try:
        machines.start_scheduler(eventually, "--protocol", "tls")
        machines.start_worker("one")
        assert machines.address.startswith("tls://")
        toy.environment |= {name: value for name, value in os.environ.items() if name.startswith("DASK_")}
        done = toy.hier("run", "--scheduler", machines.address)
        assert (done.returncode, done.stderr) == (0, ""), done.stdout
    finally:
        machines.stop()


def test_an_encrypted_address_without_certificates_is_one_sentence(pristine, refused):
    said = refused(pristine, "run", "--scheduler", "tls://127.0.0.1:1")
    assert "tls://127.0.0.1:1 wants an encrypted connection, but Dask's configuration names no certificates" in said
