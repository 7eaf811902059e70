"""Options of `workbench identify`; imports nothing, so that --help of every verb is immediate."""

from __future__ import annotations


def identify_options(p) -> None:
    """Add them to the verb's parser."""
    p.add_argument(
        "data",
        nargs="+",
        help="records: CSV, NetCDF or MAT files, units in the header like 'X [mm]'",
    )
    _columns(p)
    _friction(p)
    _models(p)
    _results(p)
    _samples(p)
    p.add_argument("--quiet", action="store_true", help="print nothing")


def _columns(p) -> None:
    """Which columns are inputs and which is the output."""
    p.add_argument(
        "--input",
        "--inputs",
        action="extend",
        nargs="+",
        default=[],
        metavar="NAME",
        dest="inputs",
        help="input columns",
    )
    p.add_argument("--output", default="", metavar="NAME", help="output column")


def _friction(p) -> None:
    """A friction law in place of a linear model."""
    p.add_argument(
        "--friction",
        metavar="LAW",
        help="identify a friction law instead, like brown-mcphee or lugre: input the speed, output the force (default: "
        "the columns in m/s and N); files without a time column hold points of steady sliding",
    )
    p.add_argument(
        "--fix",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="friction: a number that is known, like v_s=12mm/s",
    )
    p.add_argument(
        "--free",
        action="append",
        default=[],
        metavar="NAME",
        help="friction: estimate n or width, too",
    )
    p.add_argument(
        "--offset",
        action="store_true",
        help="friction: estimate a constant force of each file, too",
    )


def _models(p) -> None:
    """The form of the linear model."""
    p.add_argument(
        "--order",
        nargs="+",
        default=["auto"],
        metavar="N",
        help="order of each channel, integrators included (one number, or one an input), or auto",
    )
    p.add_argument(
        "--zeros", type=int, default=0, metavar="M", help="degree of the numerators (default 0)"
    )
    p.add_argument(
        "--integrator", action="store_true", help="one pole of every channel is at the origin"
    )
    p.add_argument(
        "--unstable", action="store_true", help="allow models with poles in the right half plane"
    )
    p.add_argument(
        "--delay",
        nargs="?",
        const="",
        metavar="TIME",
        help="estimate a delay, or hold it at this one",
    )


def _results(p) -> None:
    """What the model is held against, and where the result goes."""
    p.add_argument(
        "--validate", nargs="+", default=[], metavar="FILE", help="fresh records to validate with"
    )
    p.add_argument("--json", metavar="FILE", help="write the result as JSON")
    p.add_argument("--report", metavar="PDF", help="write a report a colleague can check")


def _samples(p) -> None:
    """How the samples of a record are read and weighed."""
    p.add_argument("--time", default="", metavar="NAME", help="name of the time column")
    p.add_argument("--period", metavar="TIME", help="step of time, for files without a time column")
    p.add_argument(
        "--unit",
        action="append",
        default=[],
        metavar="NAME=UNIT",
        help="unit of a column without one",
    )
    p.add_argument(
        "--resample", metavar="TIME", help="put the samples on an even grid of this step"
    )
    p.add_argument(
        "--decimate",
        type=int,
        default=1,
        metavar="K",
        help="every K-th sample, after an anti-alias filter",
    )
    p.add_argument(
        "--detrend",
        nargs="?",
        const="0 s",
        metavar="TIME",
        help="count inputs and outputs from their mean over the first TIME (default: the first sample)",
    )
    p.add_argument(
        "--trend", action="store_true", help="take a straight line out of the output as well"
    )
    p.add_argument(
        "--hold",
        choices=("zoh", "foh"),
        help="what inputs do between samples (default: by their looks)",
    )
    p.add_argument(
        "--equal-weights", action="store_true", help="do not weight records by their residuals"
    )
    p.add_argument("--acausal", action="store_true", help="accept an output that leads its inputs")
