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
from workbench.contract.units import format_quantity
from workbench.run.log import Log

FEWEST = 16  # samples a record must have
MOST_SAMPLES = 5_000_000  # that resampling makes
SHORTEST, LONGEST = 1e-9, 1e6  # s, of a step
UNEVEN = 0.02  # of a step, by which an instant may be off the even grid
BRIDGED = 5  # steps of a gap that resampling may fill
LEVELS = 6  # an input with at most so many values is a pulse, a step, a PRBS; clipping is not asked of it
PLATEAU = 0.02  # part of the samples at the very extreme that looks like a limit


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

    Raises InputError naming file, line and column for everything listed in the module's docstring.
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
        t = np.asarray(self.t, float)
        u, y = (_columns(a, t) for a in (self.u, self.y))
        inputs, outputs = (
            tuple(s if isinstance(s, Signal) else Signal(s) for s in g)
            for g in (self.inputs, self.outputs)
        )
        if t.ndim != 1 or u.shape != (t.size, len(inputs)) or y.shape != (t.size, len(outputs)):
            raise self._bad(
                f"t {t.shape}, u {u.shape}, y {y.shape} for {len(inputs)} inputs and {len(outputs)} outputs",
                "give t (N,), u (N, m), y (N, p) and a name for every column",
            )
        listed = [*names(inputs), *names(outputs)]
        if not inputs or not outputs or len(set(listed)) < len(listed):
            raise self._bad(
                f"inputs {', '.join(names(inputs)) or 'none'}; outputs {', '.join(names(outputs)) or 'none'}",
                "name at least one input and one output, each column once",
            )
        if t.size < FEWEST:
            raise self._bad(
                f"{t.size} samples are too few", f"record at least {FEWEST}, better some hundreds"
            )
        for name, column in zip(["time", *listed], [t, *u.T, *y.T]):
            if not np.isfinite(column).all():
                k = int(np.argmin(np.isfinite(column)))
                raise self._bad(
                    f"sample {k + 1} is {column[k]}, not a number", "remove or repair it", k, name
                )
        check_even(t, self.source, self.row)
        step = (t[-1] - t[0]) / (t.size - 1)
        if not SHORTEST <= step <= LONGEST:
            raise self._bad(
                f"steps of time of {step:.3g} s", "check the unit of the time", key="time"
            )
        hold = tuple(self.hold) or tuple("zoh" if _stepwise(c) else "foh" for c in u.T)
        if len(hold) != len(inputs) or not set(hold) <= {"zoh", "foh"}:
            raise self._bad(f"hold: {hold}", "give 'zoh' or 'foh' for every input")
        if not 0 <= self.start <= t.size - FEWEST:
            raise self._bad(
                f"from sample {self.start} on fewer than {FEWEST} are left", "let it begin earlier"
            )
        for name, value in (
            ("t", t),
            ("u", u),
            ("y", y),
            ("inputs", inputs),
            ("outputs", outputs),
            ("hold", hold),
        ):
            object.__setattr__(self, name, value)

    def _bad(
        self, message: str, mend: str, k: int | None = None, key: str | None = None
    ) -> InputError:
        line = self.row + k if self.row is not None and k is not None else None
        return InputError(message, file=self.source or None, line=line, key=key, mend=mend)

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
        """The same record, of which only samples from time t (s) on count."""
        return replace(self, start=int(np.searchsorted(self.t, t)))

    def split(self, fraction: float = 0.5) -> tuple[Record, Record]:
        """Estimation and validation part. The second keeps the whole history of the inputs, so its state is right."""
        if not 0 < fraction < 1:
            raise InputError(f"split: {fraction!r}", mend="give a fraction between 0 and 1")
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

    def with_output(self, name: str) -> Record:
        """The same record with this output alone."""
        return replace(
            self, y=self.output(name)[:, None], outputs=(find(self.outputs, name, "outputs"),)
        )

    def hints(self) -> list[str]:
        """What looks suspicious, in words."""
        found = list(self.notes)
        for signal, x in [*zip(self.inputs, self.u.T), *zip(self.outputs, self.y.T)]:
            if np.unique(x).size > LEVELS:
                for word, extreme in (("largest", x.max()), ("smallest", x.min())):
                    if (part := np.mean(x == extreme)) > PLATEAU and extreme not in (x[0], x[-1]):
                        found.append(
                            f"{signal.name} is at its {word} value, {format_quantity(extreme, signal.unit)}, in "
                            f"{100 * part:.0f} % of the samples: is it limited there (saturation)?"
                        )
        for signal, x in zip(self.inputs, self.u.T):
            if (
                np.ptp(x)
                and abs(x[0]) > 0.05 * np.abs(x).max()
                and np.ptp(x[:4]) == 0
                and self.start == 0
            ):
                found.append(
                    f"{signal.name} does not begin at 0: if the plant was at rest there, count from it "
                    "(detrended, --detrend)"
                )
        return found

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
    ins, outs = pick(inputs), pick(outputs)
    if resample is not None:
        t, ins, outs = resampled(t, ins, outs, resample, source, row)
        row = None
    stack = lambda group: np.column_stack([x for _, x in group]) if group else np.zeros((len(t), 0))
    return Record(
        t,
        stack(ins),
        stack(outs),
        tuple(s for s, _ in ins),
        tuple(s for s, _ in outs),
        tuple(hold),
        0,
        source,
        row,
        tuple(notes),
    )


def resampled(t, ins, outs, T: float, source: str = "", row: int | None = None):
    """Columns on an even grid of step T (s): stepwise inputs held, everything else by straight lines.

    Gaps of more than five steps are not bridged: InputError.
    """
    t = np.asarray(t, float)
    for s, x in [(Signal("time"), t), *ins, *outs]:
        if not np.isfinite(x).all():
            k = int(np.argmin(np.isfinite(x)))
            raise InputError(
                f"sample {k + 1} is {x[k]}, not a number",
                file=source or None,
                key=s.name,
                line=None if row is None else row + k,
                mend="remove or repair it",
            )
    check_rising(t, source, row)
    if not (np.isfinite(T) and 0 < T <= (t[-1] - t[0]) / FEWEST):
        raise InputError(
            f"resample: a step of {T!r} s over {t[-1] - t[0]:g} s",
            mend=f"choose a step with at least {FEWEST} samples",
        )
    if not (t[-1] - t[0]) / T < MOST_SAMPLES:
        raise InputError(
            f"resample: a step of {T:.3g} s makes {(t[-1] - t[0]) / T:.3g} samples",
            mend="give a longer step; the unit may be another",
        )
    gaps = np.diff(t)
    if (gaps > BRIDGED * max(T, float(np.median(gaps)))).any():
        raise _gap(
            t,
            int(np.argmax(gaps)),
            source,
            row,
            "resampling would invent them: cut the record there",
        )
    grid = t[0] + T * np.arange(int((t[-1] - t[0]) / T * (1 + 1e-12)) + 1)
    before = np.searchsorted(t, grid * (1 + 1e-12), "right") - 1
    fill = lambda x, held: x[before] if held else np.interp(grid, t, x)
    return (
        grid,
        [(s, fill(x, _stepwise(x))) for s, x in ins],
        [(s, fill(x, False)) for s, x in outs],
    )


def check_rising(t: np.ndarray, source: str = "", row: int | None = None) -> None:
    """InputError where time does not rise."""
    steps = np.diff(t)
    if (steps <= 0).any():
        k = int(np.argmax(steps <= 0)) + 1
        raise InputError(
            f"time does not rise: {t[k]:.9g} s after {t[k - 1]:.9g} s",
            file=source or None,
            line=None if row is None else row + k,
            key="time",
            mend="sort the rows and drop repeated ones",
        )


def check_even(t: np.ndarray, source: str = "", row: int | None = None) -> None:
    """InputError for gaps and unequal steps of time."""
    check_rising(t, source, row)
    steps, N = np.diff(t), t.size
    T = float(np.median(steps))
    grid = t[0] + (t[-1] - t[0]) / (N - 1) * np.arange(N)
    if np.abs(t - grid).max() <= UNEVEN * T:
        return
    k = int(np.argmax(steps))
    even = np.abs(steps - T) <= 0.1 * T
    if steps[k] > 1.5 * T and even.mean() > 0.95:
        small = steps[k] <= BRIDGED * T
        raise _gap(
            t,
            k,
            source,
            row,
            "cut the record there and give the parts as records of their own"
            + (", or resample it (resample=…, --resample)" if small else ""),
        )
    k = int(np.argmax(np.abs(steps - T)))
    raise InputError(
        f"unequal steps of time: {steps.min():.4g} … {steps.max():.4g} s",
        file=source or None,
        line=None if row is None else row + k + 1,
        key="time",
        mend=f"resample it: resample={T:.3g} (--resample '{1e3 * float(f'{T:.3g}'):.3g} ms')",
    )


def _gap(t, k, source, row, mend) -> InputError:
    T = float(np.median(np.diff(t)))
    return InputError(
        f"a gap: {t[k]:.6g} s is followed by {t[k + 1]:.6g} s, {round((t[k + 1] - t[k]) / T) - 1} samples "
        "are missing",
        file=source or None,
        line=None if row is None else row + k + 1,
        key="time",
        mend=mend,
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


def _columns(a, t) -> np.ndarray:
    a = np.asarray(a, float)
    return a[:, None] if a.ndim == 1 and t.ndim == 1 and a.size == t.size else a


def _stepwise(x: np.ndarray) -> bool:
    """Whether a column stays at its value most of the time."""
    return x.size > 1 and np.mean(np.diff(x) == 0) > 0.5
