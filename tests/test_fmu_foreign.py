"""FMUs are foreign code: not loaded unless trusted, unpacked within limits, and free to crash or hang alone."""

import zipfile

import pytest
from fmus import bench, description

from workbench import FMU, InputError, Scenario, simulate
from workbench.interop.fmu import archive
from workbench.interop.fmu.archive import unpacked
from workbench.interop.fmu.reading import described


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return bench(tmp_path_factory.mktemp("fmu"), 2)


def test_nothing_is_loaded_without_trust(file, monkeypatch):
    def never(*_):
        raise AssertionError("it was opened")

    monkeypatch.setattr(archive, "contents", never)
    with pytest.raises(InputError, match="(?s)foreign code.*--trust.*trust=True"):
        FMU(file)


def test_without_fmpy_it_is_said_how_to_install_it(file, monkeypatch):
    from workbench.interop.fmu import link

    monkeypatch.setattr(link, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"(?s)FMPy.*pip install 'fluidproof\[fmi\]'"):
        FMU(file, trust=True)


@pytest.mark.parametrize(
    "mood, said", [(1, "crashed .SIGSEGV."), (2, "did not answer for 1 s"), (3, "answered error")]
)
@pytest.mark.parametrize("kind", ["model-exchange", "co-simulation"])
def test_a_crash_a_hang_and_an_error_end_in_a_sentence(file, kind, mood, said):
    pytest.importorskip("fmpy")
    given = {"trust": True, "interface": kind, "time_limit": 1.0}
    with pytest.raises(InputError, match=f"(?s)bench.fmu.*{said}.*mend"):
        simulate(FMU(file, parameters={"mood": mood}, **given), Scenario(0.2))
    healthy = FMU(file, **given)
    assert simulate(healthy, Scenario(0.1)).status.completed


def test_two_runs_at_once_have_a_process_each(file):
    pytest.importorskip("fmpy")
    from concurrent.futures import ThreadPoolExecutor

    one = FMU(file, trust=True)
    runs = [Scenario(0.1, offset={"mass_q": q}) for q in (0.1, -0.1)]
    with ThreadPoolExecutor(2) as pool:
        a, b = pool.map(lambda s: simulate(one, s).array("mass_q"), runs)
    assert a == pytest.approx(-b, abs=1e-15) and a[-1] > 0.08


def test_an_interrupted_question_is_not_answered_to_the_next(file, monkeypatch):
    pytest.importorskip("fmpy")
    from workbench.interop.fmu import link

    one = FMU(file, trust=True)
    before = simulate(one, Scenario(0.05, offset={"mass_q": 0.1}))

    def interrupted(self, what, given):
        self.process.stdin.write(link.HEAD.pack(what, len(given)) + given)
        self.process.stdin.flush()
        raise KeyboardInterrupt

    with monkeypatch.context() as now, pytest.raises(KeyboardInterrupt):
        now.setattr(link.Link, "_exchanged", interrupted)
        simulate(one, Scenario(0.05, offset={"mass_q": 0.2}))
    after = simulate(one, Scenario(0.05, offset={"mass_q": 0.1}))
    assert (before.values == after.values).all()


# ---- archives -------------------------------------------------------------------------------------
def packed(folder, entries, compress=zipfile.ZIP_DEFLATED):
    path = folder / "x.fmu"
    with zipfile.ZipFile(path, "w", compress) as made:
        for name, data in entries:
            made.writestr(name, data)
    return path


LINK = zipfile.ZipInfo("resources/link")
LINK.external_attr = 0o120777 << 16


@pytest.mark.parametrize(
    "entries, said",
    [
        ([("../outside", "x")], "leave the folder"),
        ([("resources/../../outside", "x")], "leave the folder"),
        ([("/outside", "x")], "leave the folder"),
        ([("C:outside", "x")], "leave the folder"),
        ([("resources\\..\\outside", "x")], "leave the folder"),
        ([(LINK, "/etc/passwd")], "is a link"),
        ([("resources/a", "x"), ("resources/a", "y")], "cannot be unpacked"),
        ([("resources/a", "x"), ("resources/a/b", "y")], "cannot be unpacked"),
        ([("readme", "x")], "no modelDescription.xml"),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_archives_that_would_write_elsewhere_are_refused(tmp_path, entries, said):
    path = packed(tmp_path, [("modelDescription.xml", "<a/>")] * (said[0] != "n") + entries)
    with pytest.raises(InputError, match=said):
        unpacked(path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.fmu"]


def test_a_bomb_is_refused_by_what_comes_out_of_it(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "MOST_BYTES", 100_000)
    path = packed(tmp_path, [("modelDescription.xml", "<a/>"), ("resources/a", bytes(200_000))])
    with pytest.raises(InputError, match="unpacked it is more than 0.1 MB"):
        unpacked(path)
    monkeypatch.setattr(archive, "MOST_ENTRIES", 3)
    path = packed(tmp_path, [(f"resources/{i}", "") for i in range(4)])
    with pytest.raises(InputError, match="holds 4 files"):
        unpacked(path)


def test_what_is_no_archive_is_refused(tmp_path):
    path = tmp_path / "x.fmu"
    for data in (b"", b"no zip", b"PK\3\4" + bytes(60)):
        path.write_bytes(data)
        with pytest.raises(InputError, match="no zip archive"):
            unpacked(path)
    whole = packed(tmp_path, [("modelDescription.xml", "<a/>"), ("resources/a", "x" * 999)])
    data = bytearray(whole.read_bytes())
    data[90:100] = bytes(10)
    whole.write_bytes(data)
    with pytest.raises(InputError):
        unpacked(whole)
    with pytest.raises(InputError, match="no such file"):
        unpacked(tmp_path / "none.fmu")
    with pytest.raises(InputError, match="directory"):
        unpacked(tmp_path)


def test_only_what_is_run_is_unpacked(tmp_path):
    entries = ("modelDescription.xml", "sources/a.c", "documentation/b", "binaries/other/c.so")
    found = unpacked(packed(tmp_path, [(name, "<a/>") for name in entries]))
    files = [p.relative_to(found.folder).as_posix() for p in found.folder.rglob("*") if p.is_file()]
    assert files == ["modelDescription.xml"] and found.platforms == ("other",)
    with pytest.raises(InputError, match="(?s)no binary bench.* for this machine.*it has: other"):
        found.library("bench", 2)


# ---- descriptions ---------------------------------------------------------------------------------
def edited(tmp_path, version, *edits):
    text = description(version)
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return described(unpacked(packed(tmp_path, [("modelDescription.xml", text)])))


@pytest.mark.parametrize(
    "version, old, new, said",
    [
        (2, 'fmiVersion="2.0"', 'fmiVersion="1.0"', "expected an FMU of FMI 2 or 3, got FMI 1.0"),
        (2, "fmiModelDescription", "other", "got FMI 2.0"),
        (2, "<?xml", "<!DOCTYPE a [<!ENTITY b 'c'>]><?xml", "document type"),
        (2, "<ModelVariables>", "<!DOCTYPE a><ModelVariables>", "no XML"),
        (2, 'modelIdentifier="bench"', 'modelIdentifier="../bench"', "no name of a library"),
        (2, 'start="50"', 'start="fifty"', "no finite number"),
        (3, 'start="50"', 'start="inf"', "no finite number"),
        (3, 'name="mass.v"', 'name="mass.q"', "are called 'mass.q'"),
        (2, '<Unknown index="5"/></Deriv', '<Unknown index="99"/></Deriv', "no variable 99"),
        (2, '<Unknown index="5"/></Deriv', '<Unknown index="2"/></Deriv', "does not say of which"),
        (3, 'valueReference="7"', 'valueReference="x"', "expected a whole number"),
        (3, 'factor="1e-3"', 'factor="0"', "factor is 0"),
        (2, "ModelExchange modelIdentifier", "NoExchange modelIdentifier", ""),
    ],
)
def test_descriptions_that_say_nothing_usable_are_refused(tmp_path, version, old, new, said):
    if not said:
        assert list(edited(tmp_path, version, (old, new)).interfaces) == ["co-simulation"]
        return
    with pytest.raises(InputError, match=said):
        edited(tmp_path, version, (old, new))


@pytest.mark.parametrize("version", [2, 3])
def test_a_description_is_read_as_it_is(tmp_path, version):
    about = edited(tmp_path, version)
    assert [v.name for v in about.states] == ["mass.q", "mass.v"]
    assert [v.name for v in about.derivatives] == ["der(mass.q)", "der(mass.v)"]
    assert about.variables["q_mm"].si == ("m", 1e-3, 0.0)
    assert about.variables["k"].started == 50.0 and about.variables["k"].si.unit == "N/m"
    assert about.interfaces["model-exchange"].directional
    assert not about.interfaces["co-simulation"].directional


def test_units_become_ours():
    from workbench.interop.fmu.quantities import of_base, of_name

    assert of_base("bar", {"kg": 1, "m": -1, "s": -2}, 1e5, 0.0) == ("Pa", 1e5, 0.0)
    assert of_base("degC", {"K": 1}, 1.0, 273.15) == ("K", 1.0, 273.15)
    assert of_base("J", {"kg": 1, "m": 2, "s": -2}, 1.0, 0.0).unit == "J"
    assert of_base("x", {"kg": 1, "m": 2, "s": -3, "K": -1}, 1.0, 0.0).unit == "kg m^2/(s^3 K)"
    assert of_name("l/min") == ("m^3/s", pytest.approx(1e-3 / 60), 0.0)
    assert of_name("furlong of nobody") == ("1", 1.0, 0.0)
    assert of_name("") == ("1", 1.0, 0.0)


@pytest.mark.parametrize("version", [2, 3])
def test_any_damage_to_a_description_is_a_sentence(tmp_path, version):
    import random

    rng = random.Random(version)
    whole = description(version).encode()
    words = [
        b"",
        b'"',
        b"<",
        b">",
        b"-1",
        b"1e999",
        b"nan",
        b"\xff",
        b"&x;",
        b'name="F"',
        b"999999999999",
    ]
    for _ in range(150):
        at = rng.randrange(len(whole))
        damaged = whole[:at] + rng.choice(words) + whole[at + rng.randrange(12) :]
        path = packed(tmp_path, [("modelDescription.xml", damaged)], zipfile.ZIP_STORED)
        try:
            about = described(unpacked(path))
        except InputError:
            continue
        assert len(about.states) == len(about.derivatives)


def test_any_damage_to_an_archive_is_a_sentence(tmp_path):
    import random

    rng = random.Random(1)
    entries = [("modelDescription.xml", description(2)), ("resources/a", "x" * 500)]
    whole = packed(tmp_path, entries).read_bytes()
    path = tmp_path / "y.fmu"
    for _ in range(150):
        data = bytearray(whole)
        for _ in range(rng.randint(1, 4)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        path.write_bytes(data[: rng.choice((len(data), rng.randrange(len(data))))])
        try:
            described(unpacked(path))
        except InputError:
            pass
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.fmu", "y.fmu"]
