"""Options of `workbench tune`; imports nothing, so that --help of every verb is immediate."""

from __future__ import annotations

from workbench.commands.parser import typed


def tune_options(p) -> None:
    """Add them to the verb's parser."""
    p.add_argument(
        "--method",
        choices=("disk-margin", "relay"),
        help="how to find the gains (default: as the file says, else disk-margin)",
    )
    p.add_argument(
        "--disk-margin",
        type=float,
        metavar="M",
        dest="disk_margin",
        help="disk margin every loop keeps, below 2 (default 0.75)",
    )
    p.add_argument(
        "--free", nargs="+", choices=("K_p", "K_i", "K_d"), help="gains to find (default K_p K_i)"
    )
    p.add_argument(
        "--noise-gain",
        type=float,
        metavar="G",
        dest="noise_gain",
        help="largest K_p + 2 K_d/(2τ + T_s), SI",
    )
    p.add_argument(
        "--rule",
        choices=("ziegler-nichols", "tyreus-luyben", "astrom-hagglund"),
        help="with --method relay",
    )
    p.add_argument(
        "--structure", choices=("P", "PI", "PID"), help="with --method relay (default PI)"
    )
    p.add_argument(
        "--amplitude",
        metavar="D",
        help="of the relay, like '0.5 V' (default: a tenth of the limit)",
    )
    p.add_argument("--hysteresis", metavar="E", help="of the relay, like '0.1 mm'")
    p.add_argument(
        "--at",
        type=typed,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="state or input where to linearise, like E=0.1mm",
    )
    p.add_argument(
        "--write", metavar="FILE", help="write the case file with the gains in it, and verify it"
    )
    what = "do not verify what --write writes"
    p.add_argument("--no-verify", action="store_false", dest="verify", help=what)
    p.add_argument("--quiet", action="store_true", help="print nothing")
