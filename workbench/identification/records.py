"""Record: inputs and outputs of a plant at equal steps of time, checked, in SI units.

Everything that would make an identification silently wrong is refused here in words: gaps, unequal steps, numbers that
are none, columns that do not move, wrong units. What is only suspicious is a hint (`Record.hints`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, final

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit
from workbench.contract.system import Signal, find, names
from workbench.identification.record_checks import checked
from workbench.identification.record_hints import suspicions
from workbench.identification.time_grid import FEWEST, resampled
from workbench.run.log import Log


@final
@dataclass(frozen=True, eq=False)
class Record:
    """One experiment: the plant is at rest and its inputs zero before the first sample.

    t        (N,) s, equal steps
    u        (N, m) inputs, SI
    y        (N, p) outputs, SI
    inputs   m Signals (or names), outputs p Signals (or names)
    hold     what an input does between samples, one an input: "zoh" constant, "foh" straight; default: by its looks
    start    first sample that counts in a fit; earlier ones only set the state (`split`, `scored_from`)
    source   file or run it comes from, for messages; `row` is the file's line with the first sample

    Raises InputError naming file, line and column for everything listed in `workbench.identification.records`.
    """

    t: Annotated[np.ndarray, Unit("s")]
    u: np.ndarray
    y: np.ndarray
    inputs: tuple[Signal, ...]
    outputs: tuple[Signal, ...]
    hold: tuple[str, ...] = ()
    start: int = 0
    source: str = ""
    row: int | None = None
    notes: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self):
        for name, value in checked(self).items():
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return self.t.size

    @property
    def T(self) -> float:
        """Step of time, s."""
        return float(self.t[-1] - self.t[0]) / (self.t.size - 1)

    @property
    def input_names(self) -> list[str]:
        """Names of the inputs, in order."""
        return names(self.inputs)

    @property
    def output_names(self) -> list[str]:
        """Names of the outputs, in order."""
        return names(self.outputs)

    def input(self, name: str) -> np.ndarray:
        """(N,) samples of an input."""
        return self.u[
            :, self.input_names.index(find(self.inputs, name, self._where("inputs")).name)
        ]

    def output(self, name: str) -> np.ndarray:
        """(N,) samples of an output."""
        return self.y[
            :, self.output_names.index(find(self.outputs, name, self._where("outputs")).name)
        ]

    def hold_of(self, name: str) -> str:
        """ "zoh" or "foh": what the input does between samples."""
        return self.hold[
            self.input_names.index(find(self.inputs, name, self._where("inputs")).name)
        ]

    def _where(self, what: str) -> str:
        return f"{what} of {self.source}" if self.source else what

    # ---- what is made of it ---------------------------------------------------------------------------------------
    def detrended(self, rest: float = 0.0) -> Record:
        """Inputs and outputs counted from their mean over the first `rest` s (0: from the first sample)."""
        k = min(max(1, round(rest / self.T)), len(self))
        return replace(self, u=self.u - self.u[:k].mean(0), y=self.y - self.y[:k].mean(0))

    def scored_from(self, t: float) -> Record:
        """This record, of which only samples from time t (s) on count."""
        return replace(self, start=int(np.searchsorted(self.t, t)))

    def split(self, fraction: float = 0.5) -> tuple[Record, Record]:
        """Estimation and validation part. The second keeps the whole history of the inputs, so its state is right."""
        if not 0 < fraction < 1:
            raise InputError(f"split: {fraction:g}", mend="give a fraction between 0 and 1")
        k = self.start + round(fraction * (len(self) - self.start))
        return replace(self, t=self.t[:k], u=self.u[:k], y=self.y[:k]), replace(self, start=k)

    def decimated(self, k: int) -> Record:
        """Every k-th sample of inputs and outputs, both through the same zero-phase anti-alias filter."""
        if not isinstance(k, (int, np.integer)) or k < 1:
            raise InputError(f"decimate: {k!r}", mend="give a whole number, 1 or more")
        if k > len(self) // FEWEST:
            raise InputError(
                f"decimate: every {k}-th of {len(self)} samples",
                mend=f"keep at least {FEWEST} of them",
            )
        if k == 1:
            return self
        from scipy.signal import resample_poly

        thin = lambda a: resample_poly(a, 1, k, axis=0, padtype="line")
        return replace(
            self,
            t=self.t[::k],
            u=thin(self.u),
            y=thin(self.y),
            hold=("foh",) * len(self.inputs),
            start=-(-self.start // k),
            row=None,
        )

    def hints(self) -> list[str]:
        """What looks suspicious, in words."""
        return [*self.notes, *suspicions(self)]

    # ---- where it comes from --------------------------------------------------------------------------------------
    @classmethod
    def from_log(
        cls,
        log: Log,
        inputs: Sequence[str],
        outputs: Sequence[str],
        hold: Sequence[str] = (),
        resample: float | None = None,
    ) -> Record:
        """Signals of a Log; of two samples at one time (a jump) the second counts."""
        keep = np.append(np.diff(log.time) > 0, True)
        signals = [(log.signal(n), log.array(n)[keep]) for n in (*inputs, *outputs)]
        return of_columns(log.time[keep], signals, inputs, outputs, hold, resample, "log")


def of_columns(
    t,
    columns: Sequence[tuple[Signal, np.ndarray]],
    inputs: Sequence[str],
    outputs: Sequence[str],
    hold: Sequence[str] = (),
    resample: float | None = None,
    source: str = "",
    row: int | None = None,
    notes: Sequence[str] = (),
) -> Record:
    """Record of named columns (SI); `resample` puts them on an even grid of this step (s) first."""
    signals = [s for s, _ in columns]
    both = [n for n in inputs if n in outputs]
    if both:
        raise InputError(
            f"{both[0]} is named as input and as output",
            mend="name each column once",
            file=source or None,
        )
    pick = lambda wanted: [
        columns[signals.index(find(signals, n, f"columns of {source}" if source else "columns"))]
        for n in wanted
    ]
    ins = pick(inputs)
    outs = pick(outputs)
    if resample is not None:
        t, ins, outs = resampled(t, ins, outs, resample, source, row)
        row = None
    stack = lambda group: np.column_stack([x for _, x in group]) if group else np.zeros((len(t), 0))
    return Record(
        t=t,
        u=stack(ins),
        y=stack(outs),
        inputs=tuple(s for s, _ in ins),
        outputs=tuple(s for s, _ in outs),
        hold=tuple(hold),
        start=0,
        source=source,
        row=row,
        notes=tuple(notes),
    )


def same_units(records: Sequence[Record]) -> Mapping[str, str]:
    """Name → unit of all signals; InputError when records disagree (a wrong unit, most likely)."""
    known: dict[str, tuple[str, str]] = {}
    for k, r in enumerate(records):
        for s in (*r.inputs, *r.outputs):
            unit, where = known.setdefault(s.name, (s.unit, r.source or f"record {k + 1}"))
            if unit != s.unit:
                raise InputError(
                    f"{s.name} is in {s.unit} here, in {unit} in {where}",
                    file=r.source or f"record {k + 1}",
                    key=s.name,
                    mend="give the units: units={…}, --unit",
                )
    return {name: unit for name, (unit, _) in known.items()}
