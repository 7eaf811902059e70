"""What a user's own law can be: with memory or without, asked by these methods."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

BESIDE_A_STEP = ("start", "initial", "linear_law", "monitor")  # what a law with memory may offer


@runtime_checkable
class Stepped(Protocol):
    """A user's law with memory, asked at every sample."""

    def step(self, t: Any, z: Any, y: Any, r: Any) -> Any: ...


@runtime_checkable
class Commanding(Protocol):
    """A user's law without memory of its own."""

    def command(self, t: Any, z: Any, y: Any, r: Any) -> Any: ...


@runtime_checkable
class Starting(Protocol):
    """A user's law whose memory follows from the first measurement."""

    def start(self, t: Any, z: Any, y: Any, r: Any) -> Any: ...


@runtime_checkable
class Remembering(Protocol):
    """A user's law whose memory begins with a value."""

    def initial(self) -> Any: ...


@runtime_checkable
class LinearNearRest(Protocol):
    """A law called from Python that is linear away from its limits."""

    def linear_law(self) -> Any: ...
