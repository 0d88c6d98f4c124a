"""PgBouncer in transaction mode in front of a PostgreSQL server; Debian's package is installed when it is missing."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from sqlalchemy import make_url


def binary() -> str:
    """The programme, fetched by apt when it is not there; a machine that cannot do so fails the test."""
    os.environ["PATH"] += os.pathsep + "/usr/sbin"
    found = shutil.which("pgbouncer")
    if found is None:
        apt = ["apt-get", "install", "-y", "-q", "pgbouncer"]
        subprocess.run(["apt-get", "update", "-q"], check=False, capture_output=True)
        subprocess.run(apt, check=True, capture_output=True, env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"})
        found = shutil.which("pgbouncer")
    assert found is not None, "PgBouncer could not be installed"
    return found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def pooled(url: str, folder: Path) -> Iterator[str]:
    """The same database through the pooler: every transaction may meet another of two server processes."""
    server, port = make_url(url), free_port()
    host = server.host or server.query.get("host")
    accounts, settings = folder / "users.txt", folder / "pgbouncer.ini"
    accounts.write_text(f'"{server.username}" "{server.password or ""}"\n')
    settings.write_text(
        f"[databases]\n* = host={host} port={server.port or 5432} user={server.username} pool_size=2\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n"
        f"auth_file = {accounts}\npool_mode = transaction\nserver_round_robin = 1\n"
        f"ignore_startup_parameters = extra_float_digits,options\nlogfile = {folder / 'log.txt'}\n"
    )
    command = [binary(), str(settings)]
    if os.geteuid() == 0:  # PgBouncer refuses to run as root, and must reach the server's socket
        account = Path(str(host)).owner() if str(host).startswith("/") else "nobody"
        for path in (folder, *folder.parents):
            if path != Path("/tmp"):
                path.chmod(path.stat().st_mode | 0o755)
            else:
                break
        shutil.chown(folder, account)
        command[1:1] = ["-u", account]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        shown = server.set(host="127.0.0.1", port=port, query={}).render_as_string(hide_password=False)
        _wait(shown)
        yield shown
    finally:
        process.terminate()
        process.wait()


def _wait(url: str) -> None:
    for _ in range(300):
        try:
            psycopg.connect(url).close()
        except psycopg.OperationalError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("PgBouncer does not answer")
