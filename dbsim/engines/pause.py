"""Wait without holding up others: in a thread by sleeping, inside SQLAlchemy's `run_sync` by awaiting."""

from __future__ import annotations

import asyncio
import sys
import time


def pause(seconds: float) -> None:
    """An event loop goes on meanwhile."""
    if in_event_loop():
        from sqlalchemy.util import await_only

        await_only(asyncio.sleep(seconds))
    else:
        time.sleep(seconds)


def in_event_loop() -> bool:
    """Whether this code was called through `run_sync`, so that asynchronous drivers can be waited for."""
    greenlets = sys.modules.get("greenlet")  # nobody has used one before it is loaded
    return greenlets is not None and getattr(greenlets.getcurrent(), "__sqlalchemy_greenlet_provider__", False)
