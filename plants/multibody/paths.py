"""Coordinates in which a path of a mechanism can be given: joints, piston lengths, the tool."""

from __future__ import annotations

from plants.multibody import coordinates
from plants.multibody.vocabulary import Vocabulary


class Paths(Vocabulary):
    """The part of `plants.multibody.mechanism.Mechanism` that a reference refers to."""

    @property
    def n(self) -> int:
        """How many positions are states: one for each degree of freedom, more where positions depend on each other."""
        return len(self.own[0])

    @property
    def dependent(self) -> bool:
        """Whether the positions that are states depend on each other, and every step puts them where they fit together."""
        return self.method != "penalty" and not coordinates.independent(self)

    def misfit(self, q) -> list:
        """What is zero where positions q fit together: rows of the loops, and |e|² − 1 of every quaternion."""
        return coordinates.misfit(self, q)

    @property
    def spaces(self) -> tuple[str, ...]:
        """Spaces a path can be given in, see `plants.multibody.coordinates`."""
        return coordinates.spaces(self)

    def task_names(self, space: str) -> list[str]:
        """Names of the coordinates of a space."""
        return coordinates.names(self, space)

    def task(self, space: str, q) -> list:
        """Coordinates of a space at independent positions q."""
        return coordinates.task(self, space, q)

    @property
    def followed_lengths(self) -> list[str]:
        """Lengths of the driven actuators: where a path can be given in them, and where joints have paths.

        Several actuators may move one joint; a ball joint has no path of its own.
        """
        followed = {"joint", "piston"}.intersection(self.spaces)
        return coordinates.lengths_named(self) if followed else []

    @property
    def strokes(self) -> list[tuple[float, float]]:
        """Least and largest lengths of the driven actuators, in the order of the piston space."""
        return [self.actuators[i].span for i in coordinates.driven(self)]

    @property
    def has_tool(self) -> bool:
        return self.tcp is not None and coordinates.independent(self)

    @property
    def tool(self):
        """q ↦ position of the tool in the world, m. AttributeError for a mechanism without a tool."""
        if not self.has_tool:
            raise AttributeError("tool: this mechanism has none; give it a tcp")
        return lambda q: coordinates.place(self, q)[0]
