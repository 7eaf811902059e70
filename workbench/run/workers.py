"""Threads that know what their caller has set for its block, as that code is looked at once in it (`steady`)."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import Any


class Workers(ThreadPoolExecutor):
    """A pool of threads; what is submitted sees the context variables of the one who submits it."""

    def submit(self, function: Callable, /, *given: Any, **named: Any) -> Future:
        """As of any pool; every call has a copy of the context of its own."""
        return super().submit(copy_context().run, function, *given, **named)
