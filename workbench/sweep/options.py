"""Arguments of `workbench sweep`; light, so that --help is immediate."""


def sweep_options(parser) -> None:
    """The verb's arguments."""
    parser.add_argument(
        "file", help="sweep file (YAML): a case or a plan, what to vary, what to collect"
    )
    parser.add_argument(
        "--out",
        metavar="TABLE",
        help="where to write the table, .nc or .parquet (default: FILE's name with .nc)",
    )
    parser.add_argument(
        "--jobs", type=int, metavar="N", help="processes on this machine (default: one a core)"
    )
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="a Dask cluster instead, such as tcp://10.0.0.1:8786"
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="take the finished cases of an earlier sweep from TABLE.journal",
    )
    parser.add_argument("--quiet", action="store_true", help="print nothing")
