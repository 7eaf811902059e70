"""What limits rest on: the claim of practical stability gives them a bound on v early, and its verdict late.

A scan of a limit needs the bound to judge its runs. Its verdict stands only where the loop is practically stable as it is, which
may be known later than the scan's own runs: so scans begin beside the runs from other starts, and end early where these fail.
"""

from __future__ import annotations

from concurrent.futures import Future

from workbench.verification.verdict import Verdict


class Foundation:
    """The bound on v (J) and the verdict on practical stability; who reads one of them waits until it is known.

    Both are None where the claim is not asked. What is said first counts.
    """

    def __init__(self) -> None:
        self._bound: Future[float | None] = Future()
        self._practical: Future[Verdict | None] = Future()

    @classmethod
    def known(cls, bound: float | None = None, practical: Verdict | None = None) -> Foundation:
        """One of which all is known."""
        foundation = cls()
        foundation.set_bound(bound)
        foundation.decide(practical)
        return foundation

    def set_bound(self, bound: float | None) -> None:
        """Tell the bound on v."""
        if not self._bound.done():
            self._bound.set_result(bound)

    def decide(self, practical: Verdict | None) -> None:
        """Tell the verdict; there is no bound to come any more."""
        self.set_bound(None)
        if not self._practical.done():
            self._practical.set_result(practical)

    @property
    def bound(self) -> float | None:
        """The bound on v, J."""
        return self._bound.result()

    @property
    def practical(self) -> Verdict | None:
        """The verdict on practical stability."""
        return self._practical.result()

    @property
    def fails(self) -> bool:
        """Whether it is known by now that the loop is not shown to be practically stable."""
        if not self._practical.done():
            return False
        return self.practical is not None and not self.practical.holds
