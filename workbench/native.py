"""Expression graphs as compiled code: C by CasADi's code generation, the system's compiler, a cache on disk.

Without a compiler the same graphs run in CasADi's virtual machine, slower; that is said once. Both give the same numbers
(floating-point contraction is off).
"""

from __future__ import annotations

import atexit
import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import warnings
from functools import cache
from pathlib import Path

import casadi as ca
import numpy as np

from workbench.calculus import Traced

FLAGS = ("-O2", "-fno-math-errno", "-ffp-contract=off", "-shared", "-fPIC")
MOST_OPERATIONS = 40_000  # beyond this a compiler takes minutes: stay in the virtual machine

RK4_OFFSETS = (0.0, 0.5, 1.0)
# ROS34PW2 (Rang, Angermann 2005), as in driver.c
ROSW_GAMMA = 0.43586652150845900
ROSW_A = ((), (0.87173304301691801,), (0.84457060015369423, -0.11299064236484185), (0.0, 0.0, 1.0))
ROSW_G = ((), (-0.87173304301691801,), (-0.90338057013044082, 0.054180672388095326),
          (0.24212380706095346, -1.2232505839045147, 0.54526025533510214))
ROSW_B = (0.24212380706095346, -1.2232505839045147, 1.5452602553351020, 0.43586652150845900)
ROSW_OFFSETS = tuple(sum(row) for row in ROSW_A)


@cache
def compiler() -> str | None:
    """Path of the C compiler: $CC, cc, gcc or clang; None when there is none or FLUIDPROOF_COMPILER=none."""
    if os.environ.get("FLUIDPROOF_COMPILER", "") == "none":
        return None
    for name in (os.environ.get("FLUIDPROOF_COMPILER"), os.environ.get("CC"), "cc", "gcc", "clang"):
        path = shutil.which(name) if name else None
        if path:
            return path
    return None


def cache_folder() -> Path:
    """$FLUIDPROOF_CACHE, or fluidproof in the user's cache folder."""
    given = os.environ.get("FLUIDPROOF_CACHE")
    base = Path(given) if given else Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "fluidproof"
    return base


def generated(functions: list[ca.Function], defines: dict[str, object], tail: str = "") -> str:
    """C source of the functions, named as given, preceded by #defines and followed by `tail`."""
    generator = ca.CodeGenerator("fluidproof_part", {"with_header": False, "casadi_int": "long long int"})
    for f in functions:
        generator.add(f)
    text = generator.dump()
    head = "".join(f"#define {name} {value}\n" for name, value in defines.items())
    return head + text + "\n" + tail


def library(source: str) -> ctypes.CDLL | None:
    """The source compiled and loaded, from the disk cache where it is there; None when there is no working compiler."""
    cc = compiler()
    if cc is None:
        _slow("no C compiler was found (install gcc or clang, or set FLUIDPROOF_COMPILER)")
        return None
    key = hashlib.sha256("\0".join((source, cc, *FLAGS, sys.platform, platform.machine())).encode()).hexdigest()[:32]
    try:
        try:
            return _loaded(cc, source, cache_folder() / f"{key}.so")
        except OSError:  # a cache nobody can write: keep the code for this process only
            return _loaded(cc, source, _own_folder() / f"{key}.so")
    except (OSError, subprocess.SubprocessError) as reason:
        lines = (getattr(reason, "stderr", "") or str(reason)).strip().splitlines()
        _slow(f"the C compiler {cc} failed ({lines[-1] if lines else type(reason).__name__})")
        return None


def _loaded(cc: str, source: str, target: Path) -> ctypes.CDLL:
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():
        try:
            return ctypes.CDLL(str(target))
        except OSError:  # damaged, or of another machine: made anew
            pass
    _compile(cc, source, target)
    return ctypes.CDLL(str(target))


def _compile(cc: str, source: str, target: Path) -> None:
    # A private folder and a rename: several processes may start at once, and a killed one leaves nothing half-written.
    with tempfile.TemporaryDirectory(prefix="build-", dir=target.parent) as folder:
        c, so = Path(folder) / "part.c", Path(folder) / "part.so"
        c.write_text(source)
        subprocess.run([cc, *FLAGS, "-o", str(so), str(c), "-lm"], check=True, capture_output=True, text=True)
        os.replace(so, target)


@cache
def _own_folder() -> Path:
    folder = tempfile.TemporaryDirectory(prefix="fluidproof-")
    atexit.register(folder.cleanup)
    return Path(folder.name)


_said: set[str] = set()


def _slow(why: str) -> None:
    """Say once a process that code runs uncompiled."""
    if not _said:
        _said.add(why)
        warnings.warn(f"{why}: running in CasADi's virtual machine, about 15 times slower", RuntimeWarning, stacklevel=3)


def address(array: np.ndarray | None) -> int:
    """Address of a C-contiguous float64 array (0 for None)."""
    return 0 if array is None else array.ctypes.data


class Loop:
    """`run` over samples for one Traced system, compiled, or in the virtual machine when that is not possible."""

    def __init__(self, traced: Traced, compiled: bool | None = None, stiff: bool = False):
        self.traced, self.stiff = traced, stiff
        self.offsets = ROSW_OFFSETS if stiff else RK4_OFFSETS
        self.n_x, self.n_q, self.n_w = traced.n_states, traced.n_powers, len(traced.live)
        self.n_m = traced.log.size1_out(0)
        self.lib = None if compiled is False else self._build()
        self._maps: dict = {}
        self._held: tuple = (None, None)

    @property
    def row(self) -> int:
        """Numbers per logged sample: states, power integrals, monitors with the stored energy last."""
        return self.n_x + self.n_q + self.n_m

    def _build(self):
        t = self.traced
        parts = {"flow": t.motion, "jump": t.jump, "release": t.release, "start": t.start, "logged": t.log, "measured": t.out}
        if self.stiff:
            parts["stiff"] = t.stiff
        if max(f.n_instructions() for f in parts.values()) > MOST_OPERATIONS:
            return None
        named = [renamed(f, name) for name, f in parts.items()]
        at = "{" + ", ".join(map(str, t.stiff_at)) + "}"
        sizes = {"NX": self.n_x, "NI": t.n_moving, "NQ": self.n_q, "NW": self.n_w, "NM": self.n_m, "STAGES": len(self.offsets),
                 "WSTRIDE": self.n_w if t.flow_is_driven else 0, "NS": len(t.stiff_at) if self.stiff else 0, "STIFF_AT": at}
        lib = library(generated(named, sizes, (Path(__file__).parent / "driver.c").read_text()))
        if lib is not None:
            p, l, d = ctypes.c_void_p, ctypes.c_long, ctypes.c_double
            lib.run.argtypes = [l, l, l, ctypes.c_int, d, l, d, l, d, p, p, p, p, p, p]
            lib.run.restype = l
            lib.measure.argtypes = [d, p, p, p, p, p]
            lib.begin.argtypes = [d, p, p, p, p, p]
            self.work = max(f.sz_w() for f in named) + 1
        return lib

    def begin(self, t0, x, w, c) -> np.ndarray:
        """Initial state with the controller's memory made consistent with the first measurement."""
        return np.array(self.traced.start(t0, x, w, c)).ravel()

    def run(self, first, n, every, jumping, T, n1, h1, n2, h2, state, W, F, c, rows) -> int:
        """See driver.c; arrays are C-contiguous float64, `state` and `rows` are written."""
        if self.lib is None:
            return self._run_vm(first, n, every, jumping, T, n1, h1, n2, h2, state, W, F, c, rows)
        work = np.empty(self.work)
        return self.lib.run(first, n, every, int(jumping), T, n1, h1, n2, h2, address(state), address(W), address(F),
                            address(c), address(rows), address(work))

    # ---- the same loop in CasADi's virtual machine ------------------------------------------------------------------
    def _sample(self, jumping, n1, n2, driven):
        key = (jumping, n1, n2, driven)
        if key in self._maps:
            return self._maps[key]
        f, nx, nq, nw, S = self.traced, self.n_x, self.n_q, self.n_w, len(self.offsets)
        s, t, T = ca.MX.sym("s", nx + nq), ca.MX.sym("t"), ca.MX.sym("h", 2)
        W, c = ca.MX.sym("W", nw * (1 + S * (n1 + n2) if driven else 1)), ca.MX.sym("c", f.flow.size1_in(3))
        x, e, w = s[:nx, 0], s[nx:, 0], W[:nw, 0]  # columns even when empty
        if jumping:
            x = f.jump(t, x, w, c)
        row = ca.vertcat(x, e, f.log(t, x, w, c))
        for k in range(n1 + n2):
            h = T[0] if k < n1 else T[1]
            at = t + k * T[0] if k < n1 else t + n1 * T[0] + (k - n1) * T[1]
            if n1 and k == n1:
                x = f.release(at, x, w, c)
            ws = [W[nw * (1 + S * k + i): nw * (2 + S * k + i), 0] if driven else w for i in range(S)]
            step = h * (self._rosw if self.stiff else self._rk4)(at, h, x, ws, c)
            x, e = self._moved(x, step), e + step[f.n_moving:, 0]
        step = ca.Function("sample", [s, t, W, T, c], [ca.vertcat(x, e), row])
        self._maps[key] = step
        return step

    def _rk4(self, t, h, x, w, c):
        f, on = self.traced.motion, self._moved
        k1 = f(t, x, w[0], c)
        k2 = f(t + h / 2, on(x, h / 2 * k1), w[1], c)
        k3 = f(t + h / 2, on(x, h / 2 * k2), w[1], c)
        k4 = f(t + h, on(x, h * k3), w[2], c)
        return (k1 + 2 * k2 + 2 * k3 + k4) / 6

    def _moved(self, x, step):
        """x with its moving states advanced."""
        m = self.traced.n_moving
        return ca.vertcat(x[:m, 0] + step[:m, 0], x[m:, 0])

    def _rosw(self, t, h, x, w, c):
        f, at = self.traced, list(self.traced.stiff_at)
        J = ca.reshape(f.stiff(t, x, w[0], c), len(at), len(at))
        k = []
        for s in range(4):
            y = self._moved(x, h * sum(ROSW_A[s][q] * k[q] for q in range(s))) if s else x
            slope = f.motion(t + h * self.offsets[s], y, w[s], c)
            r = slope[at] + (h * J @ sum(ROSW_G[s][q] * k[q][at] for q in range(s)) if s else 0)
            fast = ca.solve(ca.MX.eye(len(at)) - h * ROSW_GAMMA * J, r)
            for i, place in enumerate(at):
                slope[place] = fast[i]
            k.append(slope)
        return sum(b * slope for b, slope in zip(ROSW_B, k))

    def _many(self, step, n, *held):
        """`step` over n samples, and its arguments that stay the same, once a sample: both are slow to make, so they are kept."""
        if (step, n) not in self._maps:
            self._maps[step, n] = step.mapaccum("many", n) if n > 1 else step
        given = (n, *(v.tobytes() for v in held))
        if self._held[0] != given:
            self._held = given, [ca.DM(np.tile(v[:, None], (1, n))) for v in held]
        return self._maps[step, n], self._held[1]

    def _run_vm(self, first, n, every, jumping, T, n1, h1, n2, h2, state, W, F, c, rows) -> int:
        step = self._sample(bool(jumping), n1, n2, F is not None)
        t = (first + np.arange(n)) * T
        inputs = W if F is None else np.hstack([W, F.reshape(n, -1)])
        many, held = self._many(step, n, np.array([h1, h2]), np.asarray(c))
        end, out = many(state, t[None, :], inputs.T, *held)
        out = np.array(out).T
        bad = np.flatnonzero(~np.isfinite(out[:, : self.n_x]).all(axis=1))
        done = int(bad[0]) if len(bad) else n
        if rows is not None:
            kept = out[:done][((first + np.arange(done)) % every) == 0]
            rows.reshape(-1, self.row)[: len(kept)] = kept
        state[:] = np.array(end)[:, -1] if done == n else out[done, : len(state)]
        return done


def renamed(f: ca.Function, name: str) -> ca.Function:
    """The same function under another name."""
    arguments = [ca.SX.sym(f.name_in(i), f.sparsity_in(i)) for i in range(f.n_in())]
    return ca.Function(name, arguments, f.call(arguments), f.name_in(), f.name_out())


class Mapped:
    """A function of several column arguments evaluated over many rows at once, compiled where possible.

    f: ca.Function with vector inputs and one vector output. Call with arrays (N, n_i); an argument of shape (n_i,) is shared.
    """

    TAIL = """
long many(long n, const double **in, const long *stride, double *out, long n_out, double *work) {
  const double *arg[N_IN + 1]; double *res[1];
  for (long k = 0; k < n; ++k) {
    for (int i = 0; i < N_IN; ++i) arg[i] = in[i] + k * stride[i];
    res[0] = out + k * n_out;
    each(arg, res, 0, work, 0);
  }
  return n;
}
"""

    def __init__(self, f: ca.Function, compiled: bool | None = None):
        self.f = renamed(f, "each")
        self.n_out = f.size1_out(0)
        self.lib = None
        if compiled is not False and f.n_instructions() <= MOST_OPERATIONS:
            self.lib = library(generated([self.f], {"N_IN": f.n_in()}, self.TAIL))
        if self.lib is not None:
            self.lib.many.argtypes = [ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long,
                                      ctypes.c_void_p]
            self.lib.many.restype = ctypes.c_long

    def __call__(self, *arrays) -> np.ndarray:
        arrays = [np.ascontiguousarray(a, dtype=float) for a in arrays]
        n = max((a.shape[0] for a in arrays if a.ndim == 2), default=1)
        if self.lib is None:
            values = self.f.map(n)(*[a.T if a.ndim == 2 else np.tile(a[:, None], (1, n)) for a in arrays])
            return np.ascontiguousarray(np.array(values).T)
        out = np.empty((n, self.n_out))
        pointers = (ctypes.c_void_p * len(arrays))(*[a.ctypes.data for a in arrays])
        strides = (ctypes.c_long * len(arrays))(*[a.shape[1] if a.ndim == 2 else 0 for a in arrays])
        work = np.empty(self.f.sz_w() + 1)
        self.lib.many(n, ctypes.addressof(pointers), ctypes.addressof(strides), address(out), self.n_out, address(work))
        return out


