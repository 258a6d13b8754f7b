"""`propwash webhook` as a process: it says where it answers, and SIGTERM ends it in order."""

from __future__ import annotations

import re
import signal
import ssl
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.backing.kubernetes.certificates import self_signed
from tests.environment import no_settings_of_others

__all__ = ["no_settings_of_others"]

pytestmark = pytest.mark.service
LIMIT_SECONDS = 60


def command(certificate: Path, key: Path) -> list[str]:
    program = str(Path(sys.executable).with_name("propwash"))
    files = ["--set", f"webhook.certificate_file={certificate}", "--set", f"webhook.key_file={key}"]
    return [program, "webhook", "--listen", "127.0.0.1:0", *files, "--set", "architectures.arm64={}"]


def test_it_answers_and_ends(tmp_path: Path) -> None:
    certificate, key = self_signed(tmp_path)
    with subprocess.Popen(command(certificate, key), cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            told = process.stderr.readline()
            found = re.fullmatch(
                r"answers admission reviews at (https://127\.0\.0\.1:\d+)/mutate; architectures: arm64\n", told
            )
            assert found, told
            trust = ssl.create_default_context(cafile=str(certificate))
            with urllib.request.urlopen(f"{found[1]}/healthz", context=trust, timeout=LIMIT_SECONDS) as reply:
                assert reply.read() == b"ok"
            process.send_signal(signal.SIGTERM)
            assert process.wait(LIMIT_SECONDS) == 0
        finally:
            process.kill()
    assert not (tmp_path / ".propwash").exists(), "it needs no home"


def test_without_a_certificate_nothing_is_started(tmp_path: Path) -> None:
    words = command(tmp_path / "no.crt", tmp_path / "no.key")
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)
    assert done.returncode == 2
    assert "no.crt with key" in done.stderr
