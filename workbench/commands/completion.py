"""`workbench completion SHELL`: a script by which bash, zsh or fish complete verbs, options, their choices and files.

The script is made from the parsers themselves. It is complete in itself: a shell that has read it starts no Python.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

SHELLS = ("bash", "zsh", "fish")


@dataclass(frozen=True)
class Word:
    """What may be typed: `text`; its `choices` if it takes a value of few; `files` if that is a file; what it is for."""

    text: str
    help: str = ""
    takes: bool = False
    choices: tuple[str, ...] = ()
    files: bool = False


@dataclass(frozen=True)
class Command:
    """`name` as typed, its verb if it has one, its options, and what else may stand there: words, and whether files."""

    name: str
    verb: str
    help: str
    options: tuple[Word, ...]
    words: tuple[str, ...] = ()
    files: bool = False


def commands(parsers: Sequence[argparse.ArgumentParser], machines: Sequence[str]) -> list[Command]:
    """Every command of these parsers, with their verbs. machines: names that stand for a file, and that `init` takes."""
    return [found for parser in parsers for found in _commands(parser, machines)]


def _commands(parser: argparse.ArgumentParser, machines: Sequence[str]) -> Iterator[Command]:
    groups = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    verbs = [pair for group in groups for pair in group.choices.items()]
    said = {a.dest: a.help or "" for group in groups for a in group._choices_actions}
    words = tuple(verb for verb, _ in verbs)
    free = words or _words(parser, machines)
    yield Command(parser.prog, "", "", _options(parser), free, _takes_files(parser))
    for verb, inner in verbs:
        words = _words(inner, machines)
        yield Command(parser.prog, verb, said[verb], _options(inner), words, _takes_files(inner))


def _options(parser: argparse.ArgumentParser) -> tuple[Word, ...]:
    return tuple(
        Word(
            text,
            " ".join((action.help or "").split()),
            action.nargs != 0,
            tuple(map(str, action.choices or ())),
            action.nargs != 0 and _is_file(action),
        )
        for action in parser._actions
        for text in action.option_strings
    )


FILES = ("FILE", "PDF", "NC", "CSV", "YAML", "TABLE")  # metavars of options that take a file


def _is_file(action: argparse.Action) -> bool:
    return action.metavar in FILES


def _takes_files(parser: argparse.ArgumentParser) -> bool:
    return any(a.dest in ("file", "files", "data") for a in parser._actions)


def _words(parser: argparse.ArgumentParser, machines: Sequence[str]) -> tuple[str, ...]:
    """Words that may stand where no option does."""
    free = [a for a in parser._actions if not a.option_strings]
    chosen = tuple(str(c) for a in free for c in a.choices or ())
    named = any(a.dest in ("file", "name") for a in free)
    return chosen + (tuple(machines) if named else ())


def script(shell: str, found: Sequence[Command]) -> str:
    """The text that `shell` reads."""
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](found)


# ---- bash ---------------------------------------------------------------------------------------------------------
BASH = """\
# bash completion of {names}; read it with:  source <(workbench completion bash)
_fluidproof() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} verb= options= words= files=
  COMPREPLY=()
  [[ ${{COMP_WORDS[0]##*/}} == workbench && $COMP_CWORD -gt 1 ]] && verb=${{COMP_WORDS[1]}}
  case "${{COMP_WORDS[0]##*/}} $verb" in
{cases}
  esac
  case "${{COMP_WORDS[0]##*/}} $verb $before" in
{values}
  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  else
    COMPREPLY=($(compgen -W "$words" -- "$word"))
    [[ -z $files ]] || COMPREPLY+=($(compgen -f -- "$word"))
  fi
}}
{ends}
"""


def _bash(found: Sequence[Command]) -> str:
    cases = [f'    "{c.name} {c.verb}") {_bash_words(c)} ;;' for c in found]
    values = [
        f'    "{c.name} {c.verb} {o.text}") {_bash_value(o)}; return ;;'
        for c in found
        for o in c.options
        if o.takes
    ]
    names = list(dict.fromkeys(c.name for c in found))
    ends = [f"complete -o filenames -F _fluidproof {name}" for name in names]
    return BASH.format(
        names=" and ".join(names),
        cases="\n".join(cases),
        values="\n".join(values),
        ends="\n".join(ends),
    )


def _bash_words(command: Command) -> str:
    options = _joined(option.text for option in command.options)
    files = " files=1" if command.files else ""
    return f'options="{options}" words="{_joined(command.words)}"{files}'


def _bash_value(option: Word) -> str:
    if option.choices:
        return f'COMPREPLY=($(compgen -W "{_joined(option.choices)}" -- "$word"))'
    return 'COMPREPLY=($(compgen -f -- "$word"))' if option.files else "COMPREPLY=()"


def _joined(words: Iterable[str]) -> str:
    return " ".join(words)


# ---- zsh ----------------------------------------------------------------------------------------------------------
ZSH = """\
#compdef {names}
# zsh completion; read it with:  source <(workbench completion zsh)
_fluidproof() {{
  local -a verbs
  if [[ ${{words[1]:t}} == workbench && $CURRENT -eq 2 ]]; then
    verbs=({verbs})
    _describe verb verbs
    _arguments {top}
    return
  fi
  local verb=
  if [[ ${{words[1]:t}} == workbench ]]; then
    verb=${{words[2]}}
    words=("${{(@)words[2,-1]}}")
    (( CURRENT-- ))
  fi
  case $verb in
{cases}
  esac
}}
compdef _fluidproof {names}
"""


def _zsh(found: Sequence[Command]) -> str:
    names = " ".join(dict.fromkeys(c.name for c in found))
    verbs = " ".join(_quoted(f"{c.verb}:{c.help.replace(':', ' ')}") for c in found if c.verb)
    tops = [c for c in found if c.verb or not any(o.verb for o in found if o.name == c.name)]
    top = next(c for c in found if not c.verb and c not in tops)
    cases = [
        f"    {c.verb or _quoted('')}) _arguments {_zsh_options(c)} {_zsh_words(c)} ;;"
        for c in tops
    ]
    return ZSH.format(names=names, verbs=verbs, top=_zsh_options(top), cases="\n".join(cases))


def _zsh_options(command: Command) -> str:
    return " ".join(_quoted(_zsh_option(option)) for option in command.options)


def _zsh_option(option: Word) -> str:
    said = "".join(" " if letter in "[]:" else letter for letter in option.help)
    if not option.takes:
        return f"*{option.text}[{said}]"
    return f"*{option.text}[{said}]:value:{_zsh_values(option)}"


def _zsh_values(option: Word) -> str:
    if option.choices:
        return f"({_joined(option.choices)})"
    return "_files" if option.files else " "


def _zsh_words(command: Command) -> str:
    named = _joined(command.words)
    if not (named and command.files):
        return _quoted(f"*:name:({named})" if named else "*:file:_files")
    return _quoted(
        f"*:name or file:{{_alternative 'names:name:({named})' 'files:file:_files'}}"
    ).replace("\n", " ")


def _quoted(text: str) -> str:
    """For a POSIX shell."""
    return "'" + text.replace("'", "'\\''") + "'"


# ---- fish ---------------------------------------------------------------------------------------------------------
def _fish(found: Sequence[Command]) -> str:
    lines = ["# fish completion; read it with:  workbench completion fish | source"]
    for command in found:
        lines += _fish_lines(command, [c for c in found if c.name == command.name and c.verb])
    return "\n".join(lines) + "\n"


def _fish_lines(command: Command, verbs: Sequence[Command]) -> Iterator[str]:
    begin = f"complete -c {command.name}"
    if command.verb:
        begin += f" -n '__fish_seen_subcommand_from {command.verb}'"
    elif verbs:
        begin += " -n '__fish_use_subcommand'"
        for verb in verbs:
            yield f"{begin} -f -a {verb.verb} -d {_quoted(verb.help)}"
    if command.words and (command.verb or not verbs):
        alone = "" if command.files else " -f"
        yield f"{begin}{alone} -a {_quoted(_joined(command.words))}"
    for option in command.options:
        yield f"{begin} {_fish_option(option)}"


def _fish_option(option: Word) -> str:
    name = f"-l {option.text[2:]}" if option.text.startswith("--") else f"-s {option.text[1:]}"
    takes = " -r" if option.takes else ""
    values = f" -f -a {_quoted(_joined(option.choices))}" if option.choices else ""
    files = " -F" if option.files else ""
    return f"{name}{takes}{values}{files} -d {_quoted(option.help)}"
