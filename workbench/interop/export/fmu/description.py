"""modelDescription.xml of an FMU, versions 2.0 and 3.0, and buildDescription.xml of the sources."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.sax.saxutils import quoteattr

from workbench.contract.dimensions import BASE
from workbench.contract.units import _parsed as parsed
from workbench.interop.export.fmu.model import Model, Variable

HEAD = '<?xml version="1.0" encoding="UTF-8"?>'
MATHS = "-ffp-contract=off"  # products and sums are rounded one by one, as in the run
_STEPS = {
    "controller": "Inputs are read at the beginning of every sample, outputs are the commands from then on.",
    "plant": "Inputs are held over every sample.",
    "loop": "Inputs are held over every sample.",
}


def description(model: Model, version: int, tool: str) -> str:
    """The text of modelDescription.xml; version: 2 or 3; tool: what made it."""
    about = f"{model.part}, from sample to sample of {model.sample_time:g} s. {_STEPS[model.part]}"
    head = {
        "fmiVersion": "3.0" if version == 3 else "2.0",
        "modelName": model.name,
        "instantiationToken" if version == 3 else "guid": model.token,
        "description": about,
        "generationTool": tool,
        "variableNamingConvention": "flat",
    }
    experiment = {
        "startTime": "0.0",
        "stopTime": repr(model.length),
        "stepSize": repr(model.sample_time),
    }
    category = {"name": "logStatusError", "description": "why a call was refused"}
    inner = [
        *_co_simulation(model, version),
        *_element("UnitDefinitions", {}, _units(model.variables)),
        *_element("LogCategories", {}, _element("Category", category)),
        *_element("DefaultExperiment", experiment),
        *_element("ModelVariables", {}, _variables(model, version)),
        *_element("ModelStructure", {}, _structure(model, version)),
    ]
    return "\n".join([HEAD, *_element("fmiModelDescription", head, inner), ""])


def build_description(model: Model, sources: Sequence[str]) -> str:
    """The text of buildDescription.xml of FMI 3.0."""
    files = [line for name in sources for line in _element("SourceFile", {"name": name})]
    told = {"language": "C99", "compilerOptions": MATHS}
    build = _element("SourceFileSet", told, files)
    configured = _element("BuildConfiguration", {"modelIdentifier": model.name}, build)
    return "\n".join(
        [HEAD, *_element("fmiBuildDescription", {"fmiVersion": "3.0"}, configured), ""]
    )


def _co_simulation(model: Model, version: int) -> list[str]:
    told = {"modelIdentifier": model.name, "canHandleVariableCommunicationStepSize": "false"}
    if version == 3:
        own = {
            "canGetAndSetFMUState": "true",
            "canSerializeFMUState": "true",
            "fixedInternalStepSize": repr(model.sample_time),
        }
        return _element("CoSimulation", told | own)
    own = {
        "canNotUseMemoryManagementFunctions": "true",
        "canGetAndSetFMUstate": "true",
        "canSerializeFMUstate": "true",
    }
    files = [
        line for name in [*model.sources, "fmi2.c"] for line in _element("File", {"name": name})
    ]
    return _element("CoSimulation", told | own, _element("SourceFiles", {}, files))


def _variables(model: Model, version: int) -> list[str]:
    lines = []
    for reference, v in enumerate(model.variables):
        told = {"name": v.name, "valueReference": str(reference)}
        if v.meaning:
            told["description"] = v.meaning
        told |= {"causality": v.causality, "variability": v.variability}
        if v.causality in ("output", "local"):
            told["initial"] = "calculated" if v.start is None else "exact"
        number = {} if v.unit in ("", "1") else {"unit": v.unit}
        if v.start is not None:
            number["start"] = repr(v.start)
        if version == 3:
            lines += _element("Float64", told | number)
        else:
            lines += _element("ScalarVariable", told, _element("Real", number))
    return lines


def _structure(model: Model, version: int) -> list[str]:
    """Outputs, each an unknown of the initialisation, too."""
    places = [i for i, v in enumerate(model.variables) if v.causality == "output"]
    if version == 3:
        return [
            line
            for kind in ("Output", "InitialUnknown")
            for i in places
            for line in _element(kind, {"valueReference": str(i)})
        ]
    unknown = [line for i in places for line in _element("Unknown", {"index": str(i + 1)})]
    if not unknown:
        return []
    return [*_element("Outputs", {}, unknown), *_element("InitialUnknowns", {}, unknown)]


def _units(variables: Iterable[Variable]) -> list[str]:
    written = dict.fromkeys(v.unit for v in variables if v.unit not in ("", "1"))
    return [line for unit in written for line in _element("Unit", {"name": unit}, _base(unit))]


def _base(unit: str) -> list[str]:
    """The unit in base units; nothing for one whose powers are no whole numbers."""
    known = parsed(unit)
    if known is None:
        return []
    powers = {BASE.get(k, ""): float(v) for k, v in known.dimensionality.items()}
    if "" in powers or any(not v.is_integer() for v in powers.values()):
        return []
    told = {base: str(int(power)) for base, power in powers.items() if power}
    return _element("BaseUnit", told)


def _element(name: str, told: dict[str, str], inner: Sequence[str] = ()) -> list[str]:
    """Lines of an element with attributes and what is in it."""
    attributes = "".join(f" {key}={quoteattr(value)}" for key, value in told.items())
    if not inner:
        return [f"<{name}{attributes}/>"]
    return [f"<{name}{attributes}>", *(f"  {line}" for line in inner), f"</{name}>"]
