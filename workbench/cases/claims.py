"""The claims section of a case file: the default claims, edited.

`false` takes a claim out, options replace its options, `true` or options add one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from workbench.cases import form
from workbench.cases.build import build
from workbench.cases.edit import located
from workbench.cases.node import Node
from workbench.cases.provenance import Provenance
from workbench.cases.refusals import unknown
from workbench.cases.search import check_search
from workbench.contract.closed_loop import ClosedLoop
from workbench.run.scenario import Scenario

# Claims about the ledger of a law.
ON_LEDGER = (
    "identity",
    "power-flows",
    "hypotheses",
    "inequality",
)
OPTIONS_ON_LEDGER = {"practical-stability": ("bound",)}  # the same, of claims that need no ledger


def read_claims(
    node: Node | None, loop: ClosedLoop, scenario: Scenario, provenance: dict[str, Provenance]
) -> tuple:
    """The default claims, edited by the claims section.

    A section that states a claim asks for what it says, of an open loop its requirements alone: what could not be asked is then
    told for information.
    """
    from workbench.verification import default_claims
    from workbench.verification.run_claims import Unasked

    chosen: dict[Any, Any] = {type(claim): claim for claim in default_claims(loop, scenario)}
    if node is None or node.value is None:
        return tuple(chosen.values())
    if not isinstance(node.value, dict):
        raise node.error(
            f"expected claims and their options, got {node.words}",
            key="claims",
            mend="write 'tracking: {error: 5 mm}' below it, indented",
        )
    for written, child in node.value.items():
        cls = _claim(written, child, loop)
        if child.value is False:
            chosen.pop(cls, None)
        elif cls.section:
            chosen |= _several(child, f"claims.{written}", loop, scenario)
        else:
            chosen[cls] = _stated(cls, child, f"claims.{written}", loop, provenance)
            if form.kebab(cls.__name__) == "falsify":
                check_search(chosen[cls], child, f"claims.{written}", loop, scenario)
    states_one = any(child.value is not False for child in node.value.values())
    if Unasked in chosen and states_one:
        chosen[Unasked] = replace(chosen[Unasked], counted=False)
    if not chosen:
        raise node.error(
            "every claim is taken out; nothing is left to verify",
            key="claims",
            mend="keep at least one",
        )
    return tuple(chosen.values())


def _several(child: Node, key: str, loop: ClosedLoop, scenario: Scenario) -> dict:
    """Claims of which a file may state several, each by its class and name."""
    from workbench.cases.requirements import read_requirements

    return read_requirements(child, key, loop, scenario)


def _claim(written: str, child: Node, loop: ClosedLoop) -> Any:
    """The class of the claim that a key of the section names."""
    from workbench.verification.claims import Claim
    from workbench.verification.ledger.balance import has_ledger

    names = form.claim_names(Claim)
    name = form.kebab(written).replace("_", "-")
    if name not in names:
        raise unknown(child, written, names, "claims", "claim")
    needs_ledger = names[name] in {names[n] for n in ON_LEDGER}
    if child.value is not False and needs_ledger and not has_ledger(loop):
        raise child.error(
            "this controller states no accompanying function to ask that of",
            key=f"claims.{written}",
            mend="ask it of a VDC loop, or remove this line",
        )
    return names[name]


def _stated(
    cls: type, child: Node, key: str, loop: ClosedLoop, provenance: dict[str, Provenance]
) -> Any:
    """The claim of this class with the options that stand in the file, in SI units."""
    from workbench.verification.named_functions import check_asked
    from workbench.verification.observed.requirements import in_si

    bare = child.value in (True, None)
    options = Node({}, child.line, child.column, child.file) if bare else child
    claim = build(cls, options, key, provenance)
    with located(child, key):
        check_asked(claim, loop)
        return in_si(claim, loop)
