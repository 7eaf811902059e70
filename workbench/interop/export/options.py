"""Options of `workbench export`."""

from __future__ import annotations

from typing import Any


def export_options(parser: Any) -> None:
    parser.add_argument("--c", metavar="FOLDER", help="write the law as C99 into this new folder")
    parser.add_argument(
        "--st",
        metavar="FILE",
        help="write the law as structured text (IEC 61131-3) into this new file",
    )
    parser.add_argument(
        "--ros2",
        metavar="PACKAGE",
        help="write a ros2_control controller package around the law into this new folder",
    )
    parser.add_argument(
        "--name", default="law", help="what its identifiers begin with (default: law)"
    )
    parser.add_argument(
        "--float", action="store_true", help="single precision, for processors without doubles"
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="compile it, hold it against the whole run, look for undefined behaviour",
    )
    parser.add_argument(
        "--processor",
        choices=("cortex-m7",),
        help="cross-compile it and run it in QEMU on the samples of the run",
    )
    parser.add_argument(
        "--judge", action="store_true", help="ask the claims again, of the compiled code as the law"
    )
    parser.add_argument("--quiet", action="store_true", help="print nothing")
