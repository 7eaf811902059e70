"""Records and files for identification: what comes in, and every way in which it can be wrong, in one clear message."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.io import savemat

from workbench import InputError, Log
from workbench.commands.cli import main
from workbench.contract.system import Signal
from workbench.identification import (
    PRBS,
    Channel,
    Chirp,
    Record,
    Shape,
    Step,
    fit,
    read_record,
    values,
)
from workbench.identification.causality import lead
from workbench.identification.reading import si
from workbench.run.log import Status

T = 2e-3
PLANT = Channel.of_lags("X", 12.0, (0.03, 0.012), 1)


def columns(signal=None, N=2000, σ=1e-6, seed=0):
    """Time (s), X (m), Y (m)."""
    t = np.arange(N) * T
    x = values(signal or PRBS("output", 2e-3, clock=0.03, length=3.6, begin=0.1), t)
    return t, x, PLANT.response(x, T, "zoh") + 0.01 + σ * np.random.default_rng(seed).normal(size=N)


def table(path, t, x, y, header="time [ms],X [mm],Y [cm]", sizes=(1e3, 1e3, 1e2), mark=","):
    data = np.column_stack([t, x, y]) * sizes
    path.write_text(
        header + "\n" + "\n".join(mark.join(f"{v:.12g}" for v in row) for row in data) + "\n"
    )
    return str(path)


@pytest.fixture
def data(tmp_path):
    return table(tmp_path / "bench.csv", *columns())


def edited(path, line, text):
    """The file with one line (1-based) replaced; None removes it."""
    lines = open(path).read().splitlines()
    lines[line - 1 : line] = [] if text is None else [text]
    open(path, "w").write("\n".join(lines) + "\n")
    return path


def refused(said, *more, act=None, path=None, **options):
    """The InputError of reading `path` (or of `act`), which must say all of these."""
    with pytest.raises(InputError) as why:
        act() if act else read_record(path, ["X"], ["Y"], **options)
    text = str(why.value)
    for word in (said, *more):
        assert word in text, text
    assert "\n  mend: " in text and text.count("\n") == 1, text
    return why.value


# ---- what comes in ------------------------------------------------------------------------------------------------
def test_a_file_becomes_a_record_in_si(data):
    r, (t, x, y) = read_record(data, ["X"], ["Y"]), columns()
    np.testing.assert_allclose(r.t, t, atol=1e-12)
    np.testing.assert_allclose(r.input("X"), x, atol=1e-13)
    np.testing.assert_allclose(r.output("Y"), y, atol=1e-12)
    assert (
        r.T == pytest.approx(T)
        and [s.unit for s in (*r.inputs, *r.outputs)] == ["m", "m"]
        and r.hold == ("zoh",)
    )


def test_all_formats_give_the_same_record(tmp_path, data):
    t, x, y = columns()
    expected = read_record(data, ["X"], ["Y"])
    savemat(
        tmp_path / "a.mat",
        {"t": t[:, None], "X": x * 1e3, "Y": y[None, :] * 1e2, "comment": "hello", "gain": 3.0},
    )
    from_mat = read_record(tmp_path / "a.mat", ["X"], ["Y"], units={"X": "mm", "Y": "cm"})
    log = Log(
        t,
        np.column_stack([y, x]),
        (Signal("Y", "m"), Signal("X", "m")),
        {},
        Status(True, "completed", t[-1]),
    )
    log.save(tmp_path / "a.nc")
    log.to_csv(tmp_path / "log.csv")
    other = table(tmp_path / "b.csv", t, x, y, "Zeit (s);X;Y [m]", (1, 1e3, 1), ";")
    open(tmp_path / "german.csv", "w").write("# comment\n" + open(other).read().replace(".", ","))
    for r in (
        from_mat,
        read_record(tmp_path / "a.nc", ["X"], ["Y"]),
        Record.from_log(log, ["X"], ["Y"]),
        read_record(tmp_path / "log.csv", ["X"], ["Y"]),
        read_record(tmp_path / "german.csv", ["X"], ["Y"], units={"X": "mm"}),
    ):
        np.testing.assert_allclose(r.t, expected.t, atol=1e-11)
        np.testing.assert_allclose(r.u, expected.u, atol=1e-12)
        np.testing.assert_allclose(r.y, expected.y, atol=1e-11)
        assert (r.inputs[0].unit, r.outputs[0].unit) == ("m", "m")


def test_hdf5_of_others_and_two_samples_at_a_jump(tmp_path):
    import h5netcdf

    t, x, y = columns()
    with h5netcdf.File(tmp_path / "a.nc", "w") as file:
        file.dimensions = {"n": t.size}
        for name, unit, v in (("time", "ms", t * 1e3), ("X", "mm", x * 1e3), ("Y", "m", y)):
            file.create_variable(name, ("n",), data=v).attrs["units"] = unit
    np.testing.assert_allclose(read_record(tmp_path / "a.nc", ["X"], ["Y"]).u[:, 0], x, atol=1e-15)
    twice = np.insert(t, 500, t[500])  # before and after a jump
    log = Log(
        twice,
        np.column_stack([np.insert(x, 500, 99.0), np.insert(y, 500, 99.0)]),
        (Signal("X", "m"), Signal("Y", "m")),
        {},
        Status(True, "completed", t[-1]),
    )
    r = Record.from_log(log, ["X"], ["Y"])
    np.testing.assert_array_equal(r.u[:, 0], x)


@pytest.mark.parametrize(
    ("written", "unit", "size"),
    [
        ("mm", "m", 1e-3),
        ("bar", "Pa", 1e5),
        ("l/min", "m^3/s", 1e-3 / 60),
        ("V", "V", 1.0),
        ("", None, None),
        ("%", "1", 0.01),
        ("inch", "m", 0.0254),
        ("N", "N", 1.0),
        ("1/s", "1/s", 1.0),
        ("bananas", None, None),
        ("mV", "V", 1e-3),
    ],
)
def test_units_of_headers(written, unit, size):
    assert si(written) == (None if unit is None else (unit, pytest.approx(size)))


def test_decimation_keeps_the_plant():
    t = np.arange(12000) * 5e-4
    x = values(Chirp("output", 2e-3, 0.2, 8.0, 5.5), t)
    r = Record(t, x, PLANT.response(x, 5e-4, "foh"), ("X",), ("Y",))
    found = fit(r.decimated(8), Shape("X", 3, 0, 1))
    assert found.records[0].T == pytest.approx(4e-3)
    assert found["K_X"].value == pytest.approx(12.0, rel=1e-3) and found[
        "Σλ_X"
    ].value == pytest.approx(0.042, rel=1e-2)
    # a tone above the new Nyquist frequency (125 Hz) must go, not fold
    loud = replace(r, y=r.y + 1e-3 * np.sin(2 * np.pi * 240.0 * t)[:, None]).decimated(8)
    inner = slice(50, -50)
    assert np.abs(loud.y - r.decimated(8).y)[inner].max() < 1e-5


def test_resampling_on_request():
    t, x, y = columns(Chirp("output", 2e-3, 0.2, 5.0, 3.0), σ=0.0)
    rng = np.random.default_rng(1)
    uneven = t + np.append(0, rng.uniform(-3e-4, 3e-4, t.size - 1))
    fine = np.arange(t.size * 20) * T / 20
    x_at = np.interp(uneven, fine, values(Chirp("output", 2e-3, 0.2, 5.0, 3.0), fine))
    y_at = np.interp(
        uneven,
        fine,
        PLANT.response(values(Chirp("output", 2e-3, 0.2, 5.0, 3.0), fine), T / 20, "foh"),
    )
    from workbench.identification.records import of_columns

    made = of_columns(uneven, [(Signal("X"), x_at), (Signal("Y"), y_at)], ["X"], ["Y"], resample=T)
    assert made.T == pytest.approx(T)
    found = fit(made, Shape("X", 3, 0, 1))
    assert found["K_X"].value == pytest.approx(12.0, rel=1e-3) and found[
        "Σλ_X"
    ].value == pytest.approx(0.042, rel=2e-2)


def test_detrending_and_splitting():
    t, x, y = columns(σ=0.0)
    at = Record(t, x + 0.3, y, ("X",), ("Y",))
    assert (
        any("does not begin at 0" in hint for hint in at.hints())
        and not Record(t, x, y, ("X",), ("Y",)).hints()
    )
    found = fit(at.detrended(0.05), Shape("X", 3, 0, 1))
    assert found["K_X"].value == pytest.approx(12.0, rel=1e-7)
    first, second = at.split(0.25)
    assert len(first) == 500 and second.start == 500 and len(second) == len(at)
    assert at.scored_from(1.0).start == 500


# ---- what is wrong with it ----------------------------------------------------------------------------------------
def test_numbers_that_are_none_are_named_by_line_and_column(data):
    refused("'n/a' is not a number", data, "line 100", "Y", path=edited(data, 100, "196,2,n/a"))
    refused("'nan' is not a number", "line 100", "X", path=edited(data, 100, "196,nan,3"))
    refused("the cell is empty", "line 100", path=edited(data, 100, "196,,3"))
    refused("2 cells, the header has 3", "line 100", path=edited(data, 100, "196,3"))


def test_gaps_and_unequal_steps(data):
    edited(edited(data, 400, None), 400, None)
    refused(
        "a gap: 0.794 s is followed by 0.8 s, 2 samples are missing",
        "line 400",
        "resample",
        path=data,
    )
    assert read_record(data, ["X"], ["Y"], resample=T).T == pytest.approx(T)


def test_time_that_falls_or_jitters(tmp_path):
    t, x, y = columns()
    jitter = t + 3e-4 * np.sin(np.arange(t.size))
    path = table(tmp_path / "j.csv", jitter, x, y)
    refused("unequal steps of time", "resample=", path=path)
    assert len(read_record(path, ["X"], ["Y"], resample=T)) > 1900
    t[700] = t[699]
    refused("time does not rise", "line 702", path=table(tmp_path / "f.csv", t, x, y))
    far = np.where(t > 2.0, t + 1.0, t)
    far[700] = T * 700
    refused("a gap", "invent", path=table(tmp_path / "g.csv", far, x, y), resample=T)


def test_files_that_are_none(tmp_path, data):
    refused("there is no such file", path=str(tmp_path / "none.csv"))
    refused("is a folder", path=str(tmp_path))
    for name, content, said in (
        ("e.csv", "", "empty"),
        ("h.csv", "time,X,Y\n", "no samples below the header"),
        ("n.csv", "1,2,3\n4,5,6\n", "holds numbers, not names"),
        ("d.csv", "t,X,X\n1,2,3\n", "two columns"),
        ("x.nc", "not hdf", "no readable NetCDF"),
        ("x.mat", "not mat", "no readable MAT"),
        ("m.csv", "t,X,Y\n1,2,3\n\n2,3,4\n", "an empty line"),
    ):
        (tmp_path / name).write_text(content)
        refused(said, name, path=str(tmp_path / name))


def test_units_that_do_not_fit(tmp_path, data):
    t, x, y = columns()
    refused(
        "the unit 'bananas' is not known",
        "X",
        "line 1",
        path=table(tmp_path / "u.csv", t, x, y, "time [ms],X [bananas],Y [cm]"),
    )
    refused("the time is in mm", path=table(tmp_path / "t.csv", t, x, y, "time [mm],X [mm],Y [cm]"))
    refused("the header says mm, but bar was given", path=data, units={"X": "bar"})
    bare = table(tmp_path / "b.csv", t, x, y, "time [ms],X,Y [cm]")
    assert any("X has no unit" in hint for hint in read_record(bare, ["X"], ["Y"]).hints())
    pair = [read_record(data, ["X"], ["Y"]), read_record(bare, ["X"], ["Y"])]
    refused("X is in 1 here, in m in", "b.csv", act=lambda: fit(pair, Shape("X", 3, 0, 1)))


def test_columns_that_are_not_there(data):
    refused(
        "there is no column 'Z'", "choose from X, Y", act=lambda: read_record(data, ["X"], ["Z"])
    )
    refused("there is no time column 'clock'", path=data, time="clock")
    refused("X is named as input and as output", act=lambda: read_record(data, ["X"], ["X"]))
    refused("time is the time", act=lambda: read_record(data, ["time"], ["Y"]))


def test_data_that_cannot_answer(tmp_path):
    t, x, y = columns()
    shape = Shape("X", 3, 0, 1)
    record = lambda x, y, n=None: Record(t[:n], x[:n], y[:n], ("X",), ("Y",), source="a.csv")
    refused("X is constant", "a.csv", act=lambda: fit(record(0 * x + 2.0, y), shape))
    refused("Y is constant", act=lambda: fit(record(x, 0 * y), shape))
    refused("5 samples are too few", act=lambda: record(x, y, 5))
    refused(
        "20 samples are too few for 8 parameters",
        act=lambda: fit(
            Record(t[:20], np.sin(700 * t[:20]), y[200:220], ("X",), ("Y",)), Shape("X", 5, 2, 1)
        ),
    )
    refused(
        "sample 4 is inf", "X", act=lambda: record(np.where(np.arange(t.size) == 3, np.inf, x), y)
    )
    refused("for 1 inputs", act=lambda: Record(t, np.column_stack([x, x]), y, ("X",), ("Y",)))
    refused("inputs of a.csv: there is no signal 'Q'", act=lambda: fit(record(x, y), Shape("Q", 2)))
    refused("weights", act=lambda: fit(record(x, y), shape, weights=(1.0, 2.0)))


@pytest.mark.parametrize(
    "signal",
    [
        PRBS("output", 2e-3, clock=0.03, length=3.6, begin=0.1),
        Step("output", 2e-3, 0.5),
        Chirp("output", 2e-3, 0.2, 20.0, 3.9),
    ],
)
@pytest.mark.parametrize("σ", [0.0, 1e-6, 1e-5])
def test_swapped_columns_are_found_and_right_ones_are_not_blamed(signal, σ):
    t, x, y = columns(signal, σ=σ)
    Record(t, x, y, ("X",), ("Y",))
    right = lead(x, y, T)
    assert right is None or not right.certain
    refused(
        "X leads Y",
        "are the columns swapped",
        act=lambda: fit(Record(t, y, x, ("Y",), ("X",)), Shape("Y", 2)),
    )


def test_a_clock_that_is_late_is_found():
    t, x, y = columns(PRBS("output", 2e-3, clock=0.03, length=3.4, begin=0.3))
    early = np.append(y[60:], np.full(60, y[-1]))  # 120 ms too early, more than the plant's lag
    assert lead(x, early, T).certain
    refused("Y leads X", act=lambda: fit(Record(t, x, early, ("X",), ("Y",)), Shape("X", 3, 0, 1)))
    fit(Record(t, x, early, ("X",), ("Y",)), Shape("X", 2, 0, 1), causality="ignore")


def test_an_output_that_drifts_before_its_input_steps_is_not_blamed():
    t, x, _ = columns(Step("output", 2e-3, 1.0))
    y = 0.004 * t + PLANT.response(x, T, "zoh")
    found = fit(Record(t, x, y, ("X",), ("Y",)), Shape("X", 3, 0, 1), trend=True)
    assert found["K_X"].value == pytest.approx(12.0, rel=1e-8)


def test_a_limited_signal_is_hinted_at():
    t, x, y = columns(Chirp("output", 2e-3, 0.5, 5.0, 3.9))
    clipped = Record(t, np.clip(x, -1.5e-3, 1.5e-3), y, (Signal("X", "m"),), ("Y",))
    assert (
        sum("saturation" in hint for hint in clipped.hints()) == 2
        and "1.5 mm" in clipped.hints()[0]
    )
    assert not any("saturation" in hint for hint in Record(t, x, y, ("X",), ("Y",)).hints())


@pytest.mark.parametrize("last, hinted", [(1.0, True), (0.3, True), (0.0, False)])
def test_a_record_that_ends_at_its_limit_was_limited_before(last, hinted):
    """Stretches at both ends are a signal at rest, also at its largest value; what lies between them is a limit."""
    t, x, y = columns(Chirp("output", 2e-3, 0.5, 5.0, 3.9))
    limited = np.clip(x, -9.0, 1.5e-3 if last else 9.0)
    limited[-1] = limited.max() * last if last else limited[-1]
    record = Record(t, limited, y, (Signal("X", "m"),), ("Y",))
    assert any("saturation" in hint for hint in record.hints()) is hinted
    rest = np.minimum(t, 1.0) * 1e-3
    assert not Record(t, rest, y, (Signal("X", "m"),), ("Y",)).hints()


# ---- the command --------------------------------------------------------------------------------------------------
def test_the_command(data, tmp_path, capsys):
    fresh = table(
        tmp_path / "fresh.csv",
        *columns(PRBS("output", 2e-3, clock=0.05, length=3.6, begin=0.1, seed=7), seed=1),
    )
    out = tmp_path / "out.json"
    assert (
        main(
            [
                "identify",
                data,
                "--input",
                "X",
                "--output",
                "Y",
                "--order",
                "3",
                "--integrator",
                "--validate",
                fresh,
                "--json",
                str(out),
            ]
        )
        == 0
    )
    shown = capsys.readouterr().out
    for word in ("K_X", "Σλ_X", "fit 9", "white", "validation", "ms", str(out)):
        assert word in shown
    found = json.loads(out.read_text())
    by_name = {p["name"]: p for p in found["parameters"] + found["derived"]}
    assert by_name["K_X"]["low"] < 12.0 < by_name["K_X"]["high"] and by_name["K_X"]["unit"] == "1/s"
    assert by_name["Σλ_X"]["low"] < 0.042 < by_name["Σλ_X"]["high"]
    assert found["estimation"]["white"] and found["validation"]["fit_percent"][0] > 99
    assert found["channels"][0]["integrators"] == 1


def test_the_command_chooses_an_order(data, capsys):
    assert main(["identify", data, "--inputs", "X", "--output", "Y", "--integrator"]) == 0
    shown = capsys.readouterr().out
    assert "F test" in shown and [
        line.split()[0] for line in shown.splitlines() if "chosen" in line
    ] == ["3"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--output", "Z"], "there is no column 'Z'"),
        (["--order", "two"], "--order: 'two'"),
        (["--order", "2", "3"], "2 orders"),
        (["--order", "3", "--zeros", "3"], "not strictly proper"),
        (["--delay", "3 kg"], "--delay"),
        (["--unit", "X"], "--unit"),
        (["--order", "15"], "15 poles"),
        (["--json", "/nowhere/x.json"], "no such directory"),
        (["--decimate", "0"], "decimate"),
        (["--input", "X", "--input", "Y", "--output", "X"], "named"),
        (["--resample", "0 s"], "resample"),
    ],
)
def test_wrong_usage_is_exit_3_with_one_message(data, capsys, more, said):
    columns = {"--input": "X", "--output": "Y"}
    given = [w for key, name in columns.items() if key not in more for w in (key, name)]
    assert main(["identify", data, *given, *more]) == 3
    shown = capsys.readouterr()
    assert (
        said in shown.err
        and "Traceback" not in shown.err
        and "mend:" in shown.err
        and not shown.out
    )


def test_a_bad_cell_is_exit_3_with_its_place(data, capsys):
    edited(data, 51, "98,oops,3")
    assert main(["identify", data, "--input", "X", "--output", "Y", "--order", "2"]) == 3
    shown = capsys.readouterr().err
    assert f"{data}, line 51, X: 'oops' is not a number" in shown
