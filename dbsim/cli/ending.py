"""How a command ends: what it returned or raised → one sentence on stderr and an exit code."""

from __future__ import annotations

import logging
import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

import click

from dbsim.errors import DbsimError
from dbsim.refusals import driver_errors, refusal

log = logging.getLogger("dbsim")
DONE, NOTHING, ERROR, STOPPED = 0, 1, 2, 130


class Declined(Exception):
    """A question of dbsim's was answered with no."""


def exit_code(command: Callable[[], Any]) -> int:
    """Of a command that is run here; its error, if there is one, has been told in one sentence."""
    try:
        code = command()
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return ERROR
    except (click.Abort, KeyboardInterrupt):
        return _told("stopped; nothing is lost, the same command goes on where it was", STOPPED)
    except Declined:
        return _told("nothing was changed", NOTHING)
    except DbsimError as error:
        return _told(str(error), ERROR)
    except OSError as error:
        if unread():
            return DONE
        return _told(f"{error.filename or 'the system'}: {error.strerror or error}", ERROR)
    except driver_errors() as error:
        return _told(refusal(error), ERROR)
    return code if isinstance(code, int) else DONE


@contextmanager
def until_signalled() -> Iterator[Callable[[], bool]]:
    """A service: SIGTERM and SIGINT end it at once and well, also a SIGINT that its shell has told it to ignore.

    Yields whether one came, for work that has swallowed the interrupt.
    """
    came = threading.Event()

    def end(number: int, frame: object) -> NoReturn:
        came.set()
        raise KeyboardInterrupt

    logging.getLogger("sqlalchemy.pool").setLevel(logging.CRITICAL)  # a connection that the signal met is no news
    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield came.is_set
    except KeyboardInterrupt:
        log.info("stopped; nothing is lost, the same command goes on where it was")
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def logged(verbose: bool) -> Iterator[None]:
    """What the logger `dbsim` is told appears on stderr."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("dbsim: %(message)s"))
    before = log.level
    log.addHandler(handler)
    log.setLevel(logging.DEBUG if verbose else logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(before)


def unread() -> bool:
    """Whether whoever read the output has seen enough (`dbsim pairs … | head`): then nothing more is written to it."""
    try:
        output = sys.stdout.fileno()
    except (OSError, ValueError):  # no file behind it
        return False
    if not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(output, 0)  # nothing but errors
    if not any(found & select.POLLERR for _, found in poll.poll(0)):
        return False
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), output)  # what is left in buffers goes there
    return True


def replace_unwritable() -> None:
    """A character that the terminal's encoding lacks becomes a question mark, not an error."""
    for stream in (sys.stdout, sys.stderr):
        if getattr(stream, "errors", None) == "strict" and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _told(sentence: str, code: int) -> int:
    click.echo(f"dbsim: {sentence}", err=True)
    return code
