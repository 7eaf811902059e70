"""The claim `tube`: a sampled loop stays in a tube around its nominal run, from every start of a box, as a proof.

One tube (`judged`), or one for every part of the intervals of the plant's numbers (`parts`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.contract.errors import InputError
from workbench.verification.tube.beside import KEPT, pictured
from workbench.verification.tube.checker.data import Tube
from workbench.verification.tube.claim_settings import widths
from workbench.verification.tube.expressed import expressed
from workbench.verification.tube.judged import judged, worded
from workbench.verification.tube.parts import Whole, file_of, in_parts
from workbench.verification.tube.progress import Share
from workbench.verification.tube.run_itself import leaves
from workbench.verification.verdict import Verdict


def check_tube(claim: Any, run: Any, tick: Any = None) -> Verdict:
    """The tube of this run from the starts of the claim, or why there is none and what smaller one holds."""
    left = leaves(claim, run)
    if left is not None:
        said = worded(claim, run.loop)
        return said(False, "sampled", worst=left.words, instant=left.instant)
    share = Share(tick, claim.work)
    try:
        asked = expressed(run)
    except InputError as why:
        return worded(claim, run.loop)(None, worst=why.message)
    found = in_parts(claim, asked, share) if claim.parts else Whole.of(judged(claim, asked, share))
    if found.tube is not None and found.question is not None:
        half = widths(claim, asked.loop)
        drawn = (found.tube, found.share, half, found.question, found.size)
        run.kept[KEPT] = pictured(asked, *drawn)
    if claim.certificate and found.verdict.holds:
        for k, one in enumerate(found.certificates):
            write(file_of(claim.certificate, k, len(found.certificates)), one)
    share.end()
    return found.verdict


def write(path: str, c: Tube) -> None:
    """The certificate as a file."""
    from workbench.files.atomic import write_atomic

    write_atomic(path, lambda stream: np.savez_compressed(stream, **c.arrays()))
