"""Provenance says where a table comes from: this experiment, this code, no one else's repository."""

import json
import os
import subprocess

import pytest

from mmc.experiments.engines import engine
from mmc.experiments.provenance import commit
from mmc.experiments.run import recall, run
from mmc.experiments.store import Store
from mmc.experiments.validation import load

STUDY = """\
title: small
seed: 1
datasets:
  two_norm: {options: {n_pos: 30, n_neg: 30}}
methods:
  L: {method: lda}
"""
PROJECT = '[project]\nname = "max-margin-classifiers"\n'


def git(folder, *words):
    names = {f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    done = subprocess.run(
        ["git", "-C", str(folder), *words],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, **names, "GIT_CONFIG_GLOBAL": os.devnull},
    )
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path):
    git(tmp_path, "init", "--quiet")
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "table.md").write_text("1")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "-m", "x")
    return tmp_path


def test_back_to_an_earlier_seed_is_back_to_its_provenance(tmp_path):
    path = tmp_path / "small.yaml"
    said = []
    with Store(tmp_path / "store.sqlite") as store:
        for seed in (1, 2, 1):
            path.write_text(STUDY.replace("seed: 1", f"seed: {seed}"))
            outcome = run(load(path), store, engine(1))
            outcome.write(tmp_path / "small")
            said.append(json.loads((tmp_path / "small" / "run.json").read_text())["experiment"]["seed"])
            assert recall(load(path), store).provenance == outcome.provenance
    assert said == [1, 2, 1]


def test_the_commit_of_our_own_checkout(checkout):
    head = git(checkout, "rev-parse", "HEAD")[:12]
    assert commit(checkout) == head
    (checkout / "results" / "table.md").write_text("2")
    assert commit(checkout) == head, "results are no code"
    git(checkout, "pack-refs", "--all")
    assert commit(checkout) == head
    git(checkout, "worktree", "add", "--quiet", str(checkout / "other"), "-b", "other")
    assert commit(checkout / "other") == head
    git(checkout, "checkout", "--quiet", "--detach")
    assert commit(checkout) == head
    (checkout / "pyproject.toml").write_text(PROJECT + "# changed\n")
    assert commit(checkout) == f"{head}-dirty"


def test_a_repository_around_the_installation_is_not_asked(checkout, monkeypatch):
    """Nor is any of its settings run: a hook of git can be any program."""
    site = checkout / "lib" / "site-packages" / "mmc"
    site.mkdir(parents=True)
    monkeypatch.setattr("mmc.experiments.provenance._installed_commit", lambda: None)
    assert commit(site) is None
    (checkout / "pyproject.toml").write_text('[project]\nname = "something-else"\n')
    assert commit(checkout) is None


@pytest.mark.parametrize("setting", ["core.fsmonitor", "filter.trap.clean", "filter.trap.process"])
def test_no_program_of_a_repositorys_settings_runs(checkout, setting):
    trap = checkout / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {checkout}/sprung\n")
    trap.chmod(0o755)
    git(checkout, "config", setting, str(trap))
    (checkout / ".git" / "info").mkdir(exist_ok=True)
    (checkout / ".git" / "info" / "attributes").write_text("* filter=trap\n")
    os.utime(checkout / "pyproject.toml", (1, 1))  # git has to look into it
    assert commit(checkout)
    assert not (checkout / "sprung").exists()


def test_what_an_installer_wrote_down(monkeypatch, tmp_path):
    class Installed:
        def read_text(self, name):
            return json.dumps({"url": "x", "vcs_info": {"commit_id": "0123456789abcdef"}})

    monkeypatch.setattr("mmc.experiments.provenance.metadata.distribution", lambda name: Installed())
    assert commit(tmp_path) == "0123456789ab"


@pytest.mark.parametrize("head", ["ref: refs/heads/none\n", "nonsense", "\0", "ref: ../../../etc/passwd"])
def test_a_broken_checkout_is_no_crash(checkout, head):
    (checkout / ".git" / "HEAD").write_text(head)
    assert commit(checkout) is None
