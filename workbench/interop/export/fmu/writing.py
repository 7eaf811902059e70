"""An FMU put into a file, with its case file and its verdicts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from workbench.files.atomic import write_atomic
from workbench.interop.export.fmu.archive import packed
from workbench.interop.export.fmu.model import Model


def write_fmu(options: Any, model: Model, about: Sequence[str], verdicts: Any, case: str) -> None:
    """Write the model to options.fmu, whole or not at all; case: the text of its case file."""
    told = {"part": model.part, "sample_time": model.sample_time, "verdicts": verdicts}
    resources = {"verdicts.json": json.dumps(told, ensure_ascii=False, indent=1) + "\n"}
    if case:
        resources["case.yaml"] = case
    data = packed(model, options.fmi, about, resources)
    write_atomic(options.fmu, lambda stream: stream.write(data))
