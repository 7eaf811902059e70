"""What Python users give by mistake is refused in words that say what was expected and how to mend it."""

import control
import numpy as np
import pytest

import fluidproof as fp
from fluidproof import claims
from fluidproof import multibody as mb

PLANT = fp.machine("ieha-published-linear").plant
LAW = fp.Sampled(fp.PID(PLANT, K_p=(0.4,), feed="none", damping="none"), T_s=1e-3)
LOOP = fp.ClosedLoop(PLANT, LAW)
SHORT = fp.Scenario(duration=0.01)


class Slow(fp.Controller):
    """A class of a user's, which is no plant."""


def still(t, y, r):
    """A law that commands nothing."""
    return [0.0]


def late(t, y, r):
    """A law that was given no references."""
    return [r[0] - y[0]]


class Forgetful:
    """A law without a memory to begin with."""

    def step(self, t, z, y, r):
        return z + 1.0, [0.0]


class Small(fp.Controller):
    """A law that reads m as mm."""

    measured = (fp.Signal("Y", "mm"),)
    commands = (fp.Signal("X", "m"),)

    def command(self, t, z, y, r):
        return [-1e-3 * y[0]]


def run(law):
    return fp.simulate(fp.ClosedLoop(PLANT, law), SHORT)


MISTAKES = {
    "no loop": (lambda: fp.simulate(SHORT, LOOP), "Scenario is no plant and no loop", "ClosedLoop"),
    "law": (lambda: fp.simulate(LAW, SHORT), "Sampled is no plant", "ClosedLoop(plant, law)"),
    "machine": (lambda: fp.simulate(fp.machine("four-bar")), "Machine is no plant", ".plant"),
    "own": (lambda: fp.simulate(Slow, SHORT), "ABCMeta is no plant", "derive it from System"),
    "seconds": (lambda: fp.simulate(LOOP, 3.0), "expected a Scenario, got float", "duration=10.0"),
    "verified": (lambda: fp.verify(SHORT, LOOP), "Scenario is no plant", "ClosedLoop"),
    "no pairs": (lambda: fp.simulate_many([LOOP]), "run 1: expected a loop and", "(loop, scen"),
    "one pair": (lambda: fp.simulate_many((LOOP, SHORT)), "run 1: expected a loop", "[(loop"),
    "sentence": (lambda: fp.verify(LOOP, SHORT, ["always (Y < 1 m)"]), "is no claim", "Requirem"),
    "text": (lambda: fp.verify(LOOP, SHORT, "always (Y < 1 m)"), "is no claim", "Requirement("),
    "class": (lambda: fp.verify(LOOP, SHORT, [claims.Tracking]), "Tracking is no", "Tracking(…)"),
    "number": (lambda: fp.verify(LOOP, SHORT, [5.0]), "5.0 is no claim", "Tracking(error"),
    "one claim": (lambda: fp.verify(LOOP, SHORT, claims.Tracking()), "a list, got", "[Tracking()"),
    "not a case": (lambda: fp.sensitivity(LOOP), "a Case, got ClosedLoop", "Sensitivity"),
    "law alone": (lambda: fp.export(LAW, SHORT, "none"), "a loop, got Sampled", "ClosedLoop("),
    "eye": (lambda: fp.from_control(np.eye(2)), "ndarray is no python-control", "StateSpace"),
    "held": (lambda: fp.equilibrium(PLANT, PLANT.initial(), hold=["v1"]), "'v1'", "v_1"),
    "few": (lambda: fp.equilibrium(PLANT, [0.0]), "expected 5 numbers, got 1", "v_1, v_2"),
    "unit": (lambda: fp.Sampled(LAW.inner, "2 ms"), "got '2 ms'", "write 0.002"),
    "other unit": (lambda: fp.Sampled(LAW.inner, "2 mm"), "got '2 mm'", "write 5 ms"),
    "bore": (lambda: fp.Cylinder("80 mm", 0.03, 0.5), "bore: expected a finite", "write 0.08"),
    "order": (lambda: fp.Sampled(1e-3, LAW.inner), "got PID(model=", ""),
    "one gain": (lambda: fp.PID(PLANT, K_p=0.4), "K_p: expected a tuple", "(0.4,)"),
    "list": (lambda: fp.PID(PLANT, K_p=[0.4]), "K_p: expected a finite number", "(0.4,)"),
    "its plant": (lambda: fp.PID(fp.machine("four-bar")), "expected System, got Mach", "plant"),
    "namesake": (lambda: mb.Mechanism(bodies=(fp.Body(1.0),)), "expected Body", "multibody.parts"),
    "one body": (lambda: mb.Mechanism(bodies=mb.Body("a", mass=1.0)), "bodies: expected a", "(…,)"),
    "one name": (lambda: fp.ClosedLoop(PLANT, fp.Plain(still, ("Y",), "X")), "of names", "('X',)"),
    "no references": (lambda: run(late), "IndexError", "r has nothing: name others"),
    "no memory": (lambda: run(Forgetful()), "TypeError", "give it initial(self)"),
    "millimetres": (lambda: fp.ClosedLoop(PLANT, fp.Sampled(Small())), "is in mm", '"Y", "m"'),
    "no path": (lambda: fp.Scenario(reference=(0.01,)), "expected a path, got (0.01,)", "Hold"),
    "push": (lambda: fp.Scenario(disturbances={"F_ext": "1 N"}), "F_ext: expected a num", "100.0"),
    "array": (lambda: fp.Scenario(start=np.zeros(1)), "start: expected a tuple", "tolist"),
    "slider": (lambda: fp.explore(LOOP, {"K_p": 0.4}, SHORT), "(least, most), got 0.4", "(4, 16)"),
    "sliders": (lambda: fp.explore(LOOP, ["K_p"], SHORT), "sliders by name, got", "(4, 16)"),
    "untuned": (lambda: fp.tuned(PLANT), "a PID, got LinearActuator", "PID.design"),
    "mapping": (
        lambda: claims.Probability(of="always (Y < 1 m)", over={"K": {"normal": (1.0, 0.1)}}),
        "expected Spread",
        "write Spread(normal=(1.0, 0.1))",
    ),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_a_mistake_is_told_with_what_mends_it(what):
    make, said, mend = MISTAKES[what]
    with pytest.raises(fp.InputError) as refused:
        make()
    assert said in refused.value.message and mend in refused.value.mend
    assert len(refused.value.message) < 200


def test_a_spread_is_found_beside_the_claims():
    drawn = claims.Probability(
        of="always (Y < 1 m)", over={"K": claims.Spread(normal=(115.4, 4.0))}
    )
    assert drawn.over["K"].stated == [("normal", (115.4, 4.0))]


@pytest.mark.parametrize("module", [fp.claims, fp.metrics])
def test_a_module_lists_what_is_for_users_only(module):
    assert dir(module) == sorted(module.__all__)
    assert not {"np", "dataclass", "InputError", "Annotated"} & set(dir(module))


def test_a_shut_valve_is_linearised_to_one_side_as_the_refusal_says():
    axis = slide()
    with pytest.raises(fp.InputError, match="exactly at its edge") as refused:
        fp.linearize(axis, axis.initial())
    assert "to_control(plant, x, linear=True, side=1)" in refused.value.mend
    opened = fp.to_control(axis, axis.initial(), linear=True, side=1)
    assert isinstance(opened, control.StateSpace) and opened.nstates == len(axis.states)


def slide():
    """A slide on a cylinder behind a valve, at rest."""
    drive = fp.ServoCylinder(fp.Cylinder(bore=0.05, rod=0.03, stroke=0.4), closed=0.0)
    body = mb.Body("slide", joint="prismatic", axis=(1.0, 0.0, 0.0), mass=250.0, start=0.2)
    return mb.Mechanism(
        bodies=(body,),
        actuators=(mb.Actuator("rod", joint="slide", drive=drive),),
        supply=fp.ConstantPressure(p_s=160e5, p_r=5e5),
        method="minimal",
    )


def test_a_figure_shows_itself_in_a_notebook_without_pyplot():
    log = fp.simulate(LOOP, SHORT)
    assert log.plot("Y")._repr_png_().startswith(b"\x89PNG")


def test_a_machine_made_in_python_is_drawn(tmp_path):
    figure = fp.draw(slide(), tmp_path / "slide.svg", title="my slide")
    assert "my slide" in [text.get_text() for text in figure.texts]
    assert b"<svg" in (tmp_path / "slide.svg").read_bytes()[:1000]
    assert figure._repr_png_().startswith(b"\x89PNG")
    with pytest.raises(fp.InputError, match="is written as .svg or .png"):
        fp.draw(slide(), "slide.pdf")
    with pytest.raises(fp.InputError, match="no shape to draw"):
        fp.draw(PLANT)


def test_a_law_may_write_its_units_in_another_way_or_leave_them_out():
    """Speed as m s^-1, and a command without a unit."""

    class Spelled(fp.Controller):
        measured = (fp.Signal("dY", "m s^-1"),)
        commands = (fp.Signal("X"),)

        def command(self, t, z, y, r):
            return [-1e-3 * y[0]]

    plant = fp.changed(PLANT, {"measured": "states"})
    assert fp.simulate(fp.ClosedLoop(plant, fp.Sampled(Spelled())), SHORT).status.completed


def test_a_log_is_saved_as_text_by_its_ending(tmp_path):
    log = run(still)
    log.save(tmp_path / "run.csv")
    log.to_csv(tmp_path / "same.csv")
    assert (tmp_path / "run.csv").read_bytes() == (tmp_path / "same.csv").read_bytes()
    with pytest.raises(fp.InputError, match=".csv is written for other programs"):
        fp.Log.load(tmp_path / "run.csv")


def test_an_examination_shows_its_verdicts():
    found = fp.examine(LOOP, SHORT, [claims.EnergyBalance()])
    assert repr(found) == repr(fp.verify(LOOP, SHORT, [claims.EnergyBalance()]))
    assert found._repr_html_().startswith("<table>") and found.log.status.completed
