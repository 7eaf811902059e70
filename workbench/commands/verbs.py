"""What each verb of `workbench` does, besides verifying: part of the shell, which knows all packages.

Every verb takes (options, arguments) and returns an exit code. Libraries are imported by the verbs that need them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from workbench.commands.misspelt import refuse_misspelt
from workbench.commands.outputs import _check_installed, _check_outputs, _command, _today
from workbench.contract.errors import InputError


def do_simulate(options, arguments) -> int:
    from workbench.commands import terminal
    from workbench.run.simulate import simulate

    outputs = {"log": options.log, "csv": options.csv, "animation": options.animation}
    case = read_case(options.file, options.set)
    _check_outputs(outputs, options.file)
    if options.animation:
        from reports.animation import animate, check_animation

        check_animation(options.animation, case.plant)
    with terminal.progress(not options.quiet) as tell, case.located():
        tell(0.0, "simulating")
        log = simulate(case.loop, case.scenario, progress=tell)
    if options.log:
        log.save(options.log)
    if options.csv:
        log.to_csv(options.csv)
    if options.animation:
        animate(options.animation, case.plant, log)
    if not options.quiet:
        written = [path for path in outputs.values() if path]
        terminal.say(terminal.headline(terminal.title(case), case.path, terminal.columns()))
        size = f"{len(log)} instants of {len(log.signals)} signals"
        terminal.say(" · ".join([log.status.message, size, *map(terminal.clean, written)]))
    return 0 if log.status.completed else 1


def do_init(options, arguments) -> int:
    from workbench.commands import terminal
    from workbench.files.atomic import write_atomic

    if options.name is None and options.machine is None:
        return _say_beginnings()
    if options.name is not None and options.machine is not None:
        raise InputError(
            f"init: {options.name} is a shipped machine, --machine one of your own",
            mend="give one of the two",
        )
    path = options.output or f"{options.name or options.machine}.yaml"
    text = _begun(options.name, options.machine, os.path.basename(path))
    if os.path.lexists(path):
        raise InputError(
            "there is such a file already",
            file=path,
            mend="give another name with --output, or remove it first",
        )
    write_atomic(path, lambda stream: stream.write(text.encode()))
    terminal.say(
        f"wrote {terminal.clean(path)}; check it with: verify-stability {terminal.clean(path)}"
    )
    return 0


def _say_beginnings() -> int:
    from plants.machine_files import machines
    from plants.skeletons import KINDS
    from workbench.commands import terminal

    room = max(map(len, KINDS))
    terminal.say("shipped machines: " + ", ".join(machines()))
    terminal.say("  write a case file for one with: workbench init NAME")
    terminal.say("machines of your own to begin with, drawn by their pins:")
    for kind, what in KINDS.items():
        terminal.say(f"  {kind:<{room}}  {what}")
    terminal.say("  write one with: workbench init --machine KIND")
    return 0


def _begun(name: str | None, kind: str | None, file: str) -> str:
    """The case file to begin with; `file` is what it will be called."""
    from plants.machine_files import machines
    from plants.shipped import machine
    from plants.skeletons import KINDS, skeleton
    from workbench.cases.file import laws, loads
    from workbench.commands.starter import starter
    from workbench.contract.system import innermost

    if kind is not None and kind not in KINDS and kind in machines():
        raise InputError(f"--machine: {kind} is shipped", mend=f"write: workbench init {kind}")
    if kind is not None:
        return skeleton(kind).replace(f"{kind}.yaml", file)
    try:
        plant = machine(name).plant
    except InputError as why:
        if name not in KINDS:
            raise
        mend = f"write one of your own with: workbench init --machine {name}"
        raise InputError(why.message, mend=mend) from None
    case = loads(f"plant: {name}\n", name)
    law = laws()[type(innermost(case.controller)).__name__]
    return starter(name, plant, law, case.claims, file, case.scenario)


def do_draw(options, arguments) -> int:
    from reports.draw_command import run_draw
    from workbench.cases.file import load_plant

    _check_installed({"drawing": "a window, or a file"})
    return run_draw(options, lambda path: load_plant(path, _settings(options.set)))


def do_view(options, arguments) -> int:
    from reports.page.view.command import run_view

    return run_view(options)


def do_compare(options, arguments) -> int:
    from workbench.commands.compare_command import run_compare

    _check_installed({"report": options.report})

    def write(path, found):
        from reports.comparison import Compared, write_comparison

        write_comparison(path, Compared(found, _today(), _command("workbench", arguments)))

    return run_compare(options, lambda path: read_case(path, options.set), write)


def do_identify(options, arguments) -> int:
    if options.friction is not None:
        from typing import get_args

        from plants.components.friction import Friction
        from workbench.identification.friction_command import identify_friction

        return identify_friction(options, get_args(Friction))
    from workbench.identification.command import identify

    _check_installed({"report": options.report})

    def write(path, *found):
        from reports.identification import Identified, write_identification

        write_identification(path, Identified(*found, _today(), _command("workbench", arguments)))

    return identify(options, write)


def do_tune(options, arguments) -> int:
    from controllers.tuning_method import by_runs, check_options

    def read(settings: Sequence[str]):
        return read_case(options.file, [*options.set, *settings])

    case = read(())
    runs = by_runs(options, case)
    check_options(options, runs)
    _check_outputs({"write": options.write, "report": options.report}, options.file)
    if not runs:
        from controllers.pid_tuning.command import tune

        return tune(options, case, read)
    from controllers.gain_search.command import tune_by_runs

    def write(path, *content):
        from reports.traded import TradedPage, write_traded

        write_traded(path, TradedPage(*content, _today(), _command("workbench", arguments)))

    return tune_by_runs(options, case, write)


def do_plan(options, arguments) -> int:
    from workbench.cases.file import driver, plan_of
    from workbench.cases.yaml_input import read
    from workbench.planning.command import plan

    _check_outputs(
        {"report": options.report, "csv": options.csv, "json": options.json}, options.file
    )

    def write(path, case, found, drives):
        from reports.fastest import write_fastest
        from reports.planning import Planned, write_planning

        pages = write_fastest if case.objective == "time" else write_planning
        pages(path, Planned(case, found, _today(), _command("workbench", arguments), drives))

    root = read(options.file)
    if options.set:
        from workbench.commands.settings import values_in
        from workbench.sweep.plans import LAYOUT

        root = values_in(root, options.set, LAYOUT)
    return plan(options, plan_of(root, options.file), write, driver)


def do_sweep(options, arguments) -> int:
    from workbench.sweep.command import run_sweep

    return run_sweep(options)


def do_falsify(options, arguments) -> int:
    from workbench.sweep.falsify import run_falsify

    return run_falsify(options, read_case(options.file, options.set))


def do_sensitivity(options, arguments) -> int:
    from workbench.commands.sensitivity_command import run_sensitivity

    _check_outputs({"json": options.json}, options.file)
    return run_sensitivity(options, read_case(options.file, options.set))


def do_check(options, arguments) -> int:
    from workbench.verification.tube.checker.file import main

    return main(*options.file, quiet=options.quiet)


def do_probability(options, arguments) -> int:
    from workbench.commands.probability_command import run_probability

    return run_probability(options, read_case(options.file, options.set))


def do_explain(options, arguments) -> int:
    from plants.shipped import PLANTS
    from workbench.cases.file import laws
    from workbench.commands import terminal
    from workbench.commands.explain import sections, told
    from workbench.verification.claims import Claim

    terminal.say(told(options.path, sections(PLANTS, laws(), Claim)))
    return 0


def do_schema(options, arguments) -> int:
    from plants.shipped import PLANTS
    from workbench.cases.file import laws
    from workbench.cases.file_schema import case_schema
    from workbench.cases.schema import written
    from workbench.commands import terminal
    from workbench.verification.claims import Claim

    terminal.say(terminal.for_programs(written(case_schema(PLANTS, laws(), Claim))))
    return 0


def do_completion(options, arguments) -> int:
    from plants.machine_files import machines
    from workbench.commands import terminal
    from workbench.commands.completion import commands, script
    from workbench.commands.grammar import verify_parser, workbench_parser

    parsers = (workbench_parser(), verify_parser())
    terminal.say(script(options.shell, commands(parsers, machines())).rstrip("\n"))
    return 0


# ---- files --------------------------------------------------------------------------------------------------------
def read_case(given: str, settings: Sequence[str] = ()):
    """The case in a file, or of a shipped machine called so; settings: KEY=VALUE of `--set`."""
    from workbench.cases.file import load, loads

    if not os.path.lexists(given) and "." not in given and os.sep not in given:
        from plants.machine_files import machines

        if given in machines():
            return loads(f"plant: {given}\n", given, _settings(settings))
        refuse_misspelt(given, machines())
    return load(given, _settings(settings))


def _settings(pairs: Sequence[str]):
    """What `--set` does to a case file's tree and text; None where nothing is set."""
    if not pairs:
        return None
    from workbench.commands.settings import set_in
    from workbench.sweep.cases import LAYOUT

    return lambda root, text: set_in(root, text, pairs, LAYOUT)
