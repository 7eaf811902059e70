"""Cases on a Dask cluster. What a lost worker had begun runs again on another; nothing else does."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from workbench.contract.errors import InputError
from workbench.run.processes import DIED
from workbench.sweep.outcome import Outcome, outcome

PATIENCE = 10  # s to find the scheduler


def check_address(address: str) -> None:
    """Raise InputError for what is no address of a scheduler, and where Dask is not installed."""
    from importlib.util import find_spec

    if not re.fullmatch(r"(tcp|tls|ucx|ws|wss)://[^\s/]+:\d{1,5}/?", address):
        raise InputError(
            f"--scheduler {address!r} is no address of a Dask scheduler",
            mend="write it like tcp://10.0.0.1:8786; leave it out to use the cores of this machine",
        )
    if find_spec("distributed") is None:
        raise InputError(
            "--scheduler needs dask and distributed", mend="pip install 'fluidproof[cluster]'"
        )


def on_cluster(
    study: Callable, todo: Sequence[tuple[int, Any]], address: str
) -> Iterator[tuple[int, Outcome]]:
    """(place, outcome) of every (place, point), as they finish.

    Raises InputError when no scheduler answers, it has no workers, or they run another version of the workbench.
    """
    check_address(address)
    from distributed import Client, as_completed

    # One message of ours, not ten of theirs.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        client = Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError, ImportError) as why:
        raise InputError(
            f"no Dask scheduler answers at {address}",
            mend="start one (dask scheduler), or check the address",
        ) from why
    with client:
        _check_workers(client, address)
        futures = {
            client.submit(outcome, study, point, pure=False, key=f"case-{i}-{id(client):x}"): i
            for i, point in todo
        }
        completed = as_completed(futures, loop=client.loop)
        for future in completed:
            # Its worker died with the result before it was fetched: it runs again.
            if future.status in (
                "lost",
                "pending",
            ):
                completed.add(future)
                continue
            i = futures.pop(future)
            if future.status == "finished":
                found = future.result()
            elif future.status == "error" and type(future.exception()).__name__ == "KilledWorker":
                found = Outcome(error=f"{DIED}, on several workers", kept=False)
            else:
                raise InputError(
                    f"the Dask cluster at {address} is gone or dropped a case ({future.status})",
                    mend="start it again and go on with --resume; finished cases are kept",
                )
            future.release()
            yield i, found


def _version() -> str:
    from workbench import __version__

    return __version__


def _check_workers(client, address: str) -> None:
    if not client.scheduler_info(n_workers=-1)["workers"]:
        raise InputError(
            f"the Dask scheduler at {address} has no workers",
            mend=f"start some (dask worker {address})",
        )
    others = {
        name: version
        for name, version in client.run(_version, on_error="return").items()
        if version != _version()
    }
    if others:
        name, version = next(iter(others.items()))
        raise InputError(
            f"the Dask worker {name} runs the workbench {version if isinstance(version, str) else 'not at all'}, "
            f"this is {_version()}",
            mend="install the same version on every worker",
        )
