"""modelDescription.xml read: FMI 2 counts variables, FMI 3 refers to them; both become a `Description`."""

from __future__ import annotations

from typing import NoReturn

from workbench.contract.errors import InputError, short
from workbench.files.xml_input import Element, read_xml
from workbench.interop.fmu.archive import DESCRIPTION, Unpacked
from workbench.interop.fmu.description import NUMERIC, Description, Interface, Kind, Variable
from workbench.interop.fmu.quantities import BASE, InSI, of_base, of_name

MOST_BYTES = 50_000_000
# Letters of an attribute: a list of dependencies has a place for every variable.
LONGEST = 1_000_000
TAGS: dict[str, Kind] = {"ModelExchange": "model-exchange", "CoSimulation": "co-simulation"}


def described(found: Unpacked) -> Description:
    """The description of an unpacked FMU. Raises InputError for what is no FMI 2 or 3."""
    path = found.folder / DESCRIPTION
    called = f"{found.file}, {DESCRIPTION}"
    top = read_xml(path, "a model description", MOST_BYTES, LONGEST, called)
    version = top.attributes.get("fmiVersion", "")
    if top.tag != "fmiModelDescription" or version.split(".")[0] not in ("2", "3"):
        said = f"FMI {short(version)}" if version else f"<{top.tag}>"
        raise InputError(
            f"expected an FMU of FMI 2 or 3, got {said}",
            file=found.file,
            mend="export it again as FMI 2.0 or 3.0",
        )
    return _Reading(top, found.file, int(version[0])).whole()


class _Reading:
    """Reads one description; FMI 2 counts variables, FMI 3 refers to them."""

    def __init__(self, top: Element, file: str, version: int) -> None:
        self.top, self.file, self.version = top, file, version
        self.units = _units(top)
        self.types = _types(top, version)
        listed = top.one("ModelVariables")
        self.elements = [] if listed is None else [e for e in listed.inside]
        self.variables = [self._variable(e) for e in self.elements]

    def whole(self) -> Description:
        top = self.top
        names = [v.name for v in self.variables]
        if len(set(names)) < len(names):
            twice = next(name for i, name in enumerate(names) if name in names[:i])
            self._refuse(f"two of its variables are called {short(twice)!r}")
        interfaces = [i for tag in TAGS for i in _interfaces(self.top, tag)]
        if not interfaces:
            self._refuse("it offers neither co-simulation nor model exchange")
        states, derivatives = self._states()
        indicators = top.attributes.get("numberOfEventIndicators")
        return Description(
            file=self.file,
            version=self.version,
            name=short(top.text("modelName")),
            token=top.text("guid" if self.version == 2 else "instantiationToken"),
            interfaces={i.kind: i for i in interfaces},
            variables=dict(zip(names, self.variables)),
            states=states,
            derivatives=derivatives,
            indicators=_whole(top, indicators or "0") if self.version == 2 else None,
        )

    def _refuse(self, words: str) -> NoReturn:
        raise InputError(words, file=self.file, mend="export it again")

    @property
    def _old(self) -> bool:
        return self.version == 2

    def _variable(self, e: Element) -> Variable:
        if self._old and not e.inside:
            raise e.error("it has no type", "export it again")
        typed = e.inside[0] if self._old else e
        declared = self.types.get(typed.attributes.get("declaredType", ""))
        kept = {} if declared is None else declared.attributes
        own = {**kept, **typed.attributes}
        causality = e.attributes.get("causality", "local")
        real = typed.tag in NUMERIC
        variability = e.attributes.get("variability", "continuous" if real else "discrete")
        name = e.text("name")
        start = typed.attributes.get("start", "")
        array = not self._old and bool(e.every("Dimension"))
        low, high = (_limit(own.get(k)) for k in ("min", "max"))
        si = self._si(own.get("unit", "")) if real else InSI()
        made = Variable(
            name=name,
            reference=_whole(e, e.text("valueReference")),
            type=typed.tag,
            causality=causality,
            variability=variability,
            settable=_settable(causality, variability, e.attributes.get("initial", "")),
            start=start,
            low=low,
            high=high,
            meaning=short(e.attributes.get("description", ""), 200),
            si=si,
            array=array,
        )
        if made.number:
            _check_start(made, e)
        return made

    def _si(self, unit: str) -> InSI:
        return self.units.get(unit) or of_name(unit)

    def _states(self) -> tuple[tuple[Variable, ...], tuple[Variable, ...]]:
        """(continuous states, their derivatives) in the order of the state vector."""
        structure = self.top.one("ModelStructure")
        if structure is None:
            return (), ()
        listed = structure.one("Derivatives") if self._old else structure
        tag = "Unknown" if self._old else "ContinuousStateDerivative"
        rates = [self._named(e) for e in ([] if listed is None else listed.every(tag))]
        states = [self._state_of(k) for k in rates]
        pick = lambda places: tuple(self.variables[k] for k in places)
        return pick(states), pick(rates)

    def _named(self, e: Element) -> int:
        """The place of the variable that an entry of the structure names."""
        return self._place(e, e.text("index" if self._old else "valueReference"))

    def _state_of(self, k: int) -> int:
        e = self.elements[k]
        typed = e.inside[0] if self._old else e
        if "derivative" not in typed.attributes:
            raise e.error("it is listed as a derivative, and does not say of which state")
        return self._place(e, typed.attributes["derivative"])

    def _place(self, e: Element, text: str) -> int:
        number = _whole(e, text)
        if self._old:
            k = number - 1
        else:
            k = next((i for i, v in enumerate(self.variables) if v.reference == number), -1)
        if not 0 <= k < len(self.variables):
            raise e.error(f"there is no variable {number}", "export it again")
        return k


def _settable(causality: str, variability: str, initial: str) -> bool:
    """Whether a start value may be set before initialisation, by the tables of FMI 2 (2.2.7) and 3 (2.4.7.5)."""
    if variability == "constant" or causality in ("independent", "calculatedParameter"):
        return False
    if causality in ("parameter", "structuralParameter", "input"):
        return True
    return initial in ("exact", "approx")


def _limit(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


def _check_start(v: Variable, e: Element) -> None:
    try:
        ok = abs(v.started) < float("inf")
    except ValueError:
        ok = False
    if not ok:
        raise e.error(f"start {short(v.start)!r} is no finite number", "export it again")


def _interfaces(top: Element, tag: str) -> list[Interface]:
    """The interface of this kind, where the FMU offers it."""
    e = top.one(tag)
    if e is None:
        return []
    identifier = e.text("modelIdentifier")
    if not identifier.replace("_", "a").isalnum() or not identifier.isascii():
        raise e.error(f"modelIdentifier {short(identifier)!r} is no name of a library")
    every = e.number("fixedInternalStepSize", 0.0)
    slopes = "providesDirectionalDerivative"
    return [
        Interface(
            TAGS[tag],
            identifier,
            _says(e, slopes) or _says(e, f"{slopes}s"),
            every if every > 0 else None,
            _says(e, "needsExecutionTool"),
            _says(e, "canBeInstantiatedOnlyOncePerProcess"),
        )
    ]


def _says(e: Element, name: str) -> bool:
    return e.attributes.get(name) in ("true", "1")


def _units(top: Element) -> dict[str, InSI]:
    """Name of a unit → what it is in SI."""
    found: dict[str, InSI] = {}
    listed = top.one("UnitDefinitions")
    for e in [] if listed is None else listed.every("Unit"):
        name = e.text("name")
        base = e.one("BaseUnit")
        if base is None:
            found[name] = of_name(name)
            continue
        powers = {b: _whole(base, base.attributes.get(b, "0")) for b in BASE}
        factor = base.number("factor", 1.0)
        offset = base.number("offset", 0.0)
        if factor == 0:
            raise base.error("factor is 0")
        found[name] = of_base(name, powers, factor, offset)
    return found


def _types(top: Element, version: int) -> dict[str, Element]:
    """Declared types: in FMI 2 what stands inside <SimpleType>, in FMI 3 the type itself."""
    listed = top.one("TypeDefinitions")
    found: dict[str, Element] = {}
    for e in [] if listed is None else listed.inside:
        if e.attributes.get("name"):
            found[e.attributes["name"]] = e.inside[0] if e.inside and version == 2 else e
    return found


def _whole(e: Element, text: str) -> int:
    if not text.strip().lstrip("-").isdecimal() or len(text) > 12:
        raise e.error(f"{short(text)!r}: expected a whole number", "export it again")
    return int(text)
