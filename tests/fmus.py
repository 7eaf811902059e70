"""FMUs of the tests' own, of FMI 2 and 3, compiled from tests/fmu: a mass on a spring (`bench.h` there)."""

import subprocess
import zipfile
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from workbench.interop.fmu.archive import ending, own_platforms

SOURCES = Path(__file__).parent / "fmu"
# name, causality, variability, start, unit, derivative of; at the place that is its value reference.
VARIABLES = (
    ("time", "independent", "continuous", "", "s", 0),
    ("mass.q", "output", "continuous", "0", "m", 0),
    ("mass.v", "output", "continuous", "0", "m/s", 0),
    ("der(mass.q)", "local", "continuous", "", "m/s", 1),
    ("der(mass.v)", "local", "continuous", "", "m/s2", 2),
    ("F", "input", "continuous", "0", "N", 0),
    ("D", "input", "continuous", "0", "N", 0),
    ("m", "parameter", "tunable", "2", "kg", 0),
    ("d", "parameter", "tunable", "3", "N.s/m", 0),
    ("k", "parameter", "tunable", "50", "N/m", 0),
    ("stop", "parameter", "fixed", "1e9", "m", 0),
    ("e", "parameter", "fixed", "0.5", "", 0),
    ("mood", "parameter", "fixed", "0", "", 0),
    ("q_mm", "output", "continuous", "", "mm", 0),
)
UNITS = {
    "s": 's="1"',
    "m": 'm="1"',
    "mm": 'm="1" factor="1e-3"',
    "m/s": 'm="1" s="-1"',
    "m/s2": 'm="1" s="-2"',
    "N": 'kg="1" m="1" s="-2"',
    "kg": 'kg="1"',
    "N.s/m": 'kg="1" s="-1"',
    "N/m": 'kg="1" s="-2"',
}


def variable(version: int, reference: int, given: tuple) -> str:
    name, causality, variability, start, unit, of = given
    exact = "exact" if start and causality != "input" else ""
    said = f'name="{name}" valueReference="{reference}" causality="{causality}" variability="{variability}"'
    said += f' initial="{exact}"' if exact else ""
    kind = (
        {2: "Integer", 3: "Int32"}[version]
        if name == "mood"
        else {2: "Real", 3: "Float64"}[version]
    )
    # FMI 2 counts variables from 1, FMI 3 refers to them.
    own = f' derivative="{of + 1 if version == 2 else of}"' if of else ""
    own += f' start="{start}"' if start else ""
    own += f' unit="{unit}"' if unit else ""
    if version == 3:
        return f"<{kind} {said}{own}/>"
    return f"<ScalarVariable {said}><{kind}{own}/></ScalarVariable>"


def description(version: int, directional: bool = True, indicators: int = 0, more: str = "") -> str:
    """The bench's modelDescription.xml."""
    word = "providesDirectionalDerivative" + ("s" if version == 3 else "")
    slopes = f'{word}="{"true" if directional else "false"}"'
    token = {2: "guid", 3: "instantiationToken"}[version]
    events = f' numberOfEventIndicators="{indicators}"' if version == 2 else ""
    listed = "".join(variable(version, i, v) for i, v in enumerate(VARIABLES))
    units = "".join(f'<Unit name="{n}"><BaseUnit {b}/></Unit>' for n, b in UNITS.items())
    if version == 2:
        outputs = "".join(f'<Unknown index="{i + 1}"/>' for i in (1, 2, 13))
        rates = "".join(f'<Unknown index="{i + 1}"/>' for i in (3, 4))
        structure = f"<Outputs>{outputs}</Outputs><Derivatives>{rates}</Derivatives>"
    else:
        structure = "".join(f'<Output valueReference="{i}"/>' for i in (1, 2, 13))
        structure += "".join(f'<ContinuousStateDerivative valueReference="{i}"/>' for i in (3, 4))
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><fmiModelDescription fmiVersion="{version}.0" modelName="bench"'
        f' {token}="{{bench}}"{events}><ModelExchange modelIdentifier="bench" {slopes}/>'
        f'<CoSimulation modelIdentifier="bench" {more}/><UnitDefinitions>{units}</UnitDefinitions>'
        f"<ModelVariables>{listed}</ModelVariables><ModelStructure>{structure}</ModelStructure></fmiModelDescription>"
    )


@cache
def library(version: int) -> Path:
    """The compiled bench."""
    made = Path(mkdtemp(prefix="fluidproof-bench-")) / f"bench{ending()}"
    source = SOURCES / f"fmi{version}.c"
    flags = ["-shared", "-fPIC", "-O1", "-w", "-std=gnu11"]
    subprocess.run(["cc", *flags, str(source), "-o", str(made), "-lm"], check=True)
    return made


def bench(folder: Path, version: int, name: str = "bench.fmu", **about) -> str:
    """An FMU of the bench in `folder`; its path."""
    path = folder / name
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", description(version, **about))
        archive.write(library(version), f"binaries/{own_platforms(version)[0]}/bench{ending()}")
    return str(path)
