"""Run as a program: columns of an HDF5 (NetCDF-4) or MAT file, copied to stdout. See `workbench.files.packed`, which starts it.

Usage: python packed_reader.py FILE hdf5|mat|matrices BYTES. What comes out is one line of JSON

    {"attributes": {name: number or text}, "columns": [[name, unit, count], …], "texts": {name: [text, …]}}

and below it the columns as 64-bit floats, one after the other; or {"error": words}. BYTES is how much may come out. Nothing
is imported of the workbench: this process may be damaged by what it reads.
"""

import json
import os
import sys

VIRTUAL = 4_000_000_000  # bytes of address space; libraries take some hundred million of it
DIMENSION = "This is a netCDF dimension but not a netCDF variable"


class Refused(Exception):
    """Why the file is not read, in words."""


def hdf5(path, most, squeezed=False):
    """(attributes, {name: (unit, function that gives the values)}, texts) of an HDF5 file; squeezed: of matrices with one row."""
    import h5py

    file = h5py.File(path, "r")
    columns = {}
    texts = {}
    total = 0
    for name in file:
        if not isinstance(file.get(name, getlink=True), h5py.HardLink):
            continue  # to another file, or to nothing
        found = file.get(name)
        if not isinstance(found, h5py.Dataset) or dimension_only(found):
            continue
        text = h5py.check_string_dtype(found.dtype) is not None
        if found.dtype.kind not in "iuf" and not text:
            continue
        if found.external or found.is_virtual:
            raise Refused("its numbers are in another file")
        shape = [n for n in found.shape or () if n != 1 or not squeezed]
        if len(shape) != 1:
            continue
        total += 8 * shape[0]
        if total > most:
            raise Refused(f"it claims more numbers than {most / 1e6:.3g} MB")
        if text:
            texts[name] = [
                v.decode("utf-8", "replace") if isinstance(v, bytes) else str(v)
                for v in found[...].ravel()
            ]
        else:
            columns[name] = unit_of(found), lambda found=found: found[...].ravel()
    return {name: plain(value) for name, value in file.attrs.items()}, columns, texts


def dimension_only(found):
    """Whether a dataset only stands for a dimension."""
    word = found.attrs.get("NAME", b"")
    return isinstance(word, bytes) and word.decode("ascii", "replace").startswith(DIMENSION)


def unit_of(found):
    unit = plain(found.attrs.get("units", ""))
    return unit if isinstance(unit, str) else str(unit)


def plain(value):
    """A number or text of an attribute; None for anything else."""
    import numpy as np

    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, str):
        return value
    value = np.asarray(value)
    if value.size != 1 or value.dtype.kind not in "iufSO":
        return None
    value = value.ravel()[0]
    if isinstance(value, (bytes, str)):
        return plain(value)
    return value.item() if isinstance(value, np.generic) else None


def mat(path, most):
    """As `hdf5`, of a MAT file of any version."""
    import numpy as np
    from scipy.io import loadmat

    try:
        content = loadmat(path, squeeze_me=True)
    except NotImplementedError:  # version 7.3 is HDF5
        attributes, columns, _ = hdf5(path, most, squeezed=True)
        return attributes, columns, {}
    columns = {}
    for name, value in content.items():
        value = np.asarray(value)
        if not name.startswith("__") and value.ndim == 1 and value.dtype.kind in "iuf":
            columns[name] = "", lambda value=value: value
    if sum(8 * take().size for _, take in columns.values()) > most:
        raise Refused(f"it holds more numbers than {most / 1e6:.3g} MB")
    return {}, columns, {}


def matrices(path, most):
    """As `mat`, of matrices row by row, and of texts; of versions before 7.3."""
    import numpy as np
    from scipy.io import loadmat

    try:
        content = loadmat(path, squeeze_me=False, chars_as_strings=True)
    except NotImplementedError:
        raise Refused("it is of version 7.3, which is not read here: save it with '-v7'") from None
    columns = {}
    texts = {}
    for name, value in content.items():
        value = np.asarray(value)
        if not name.startswith("__") and value.dtype.kind == "U" and value.size == 1:
            texts[name] = str(value.ravel()[0])
        elif not name.startswith("__") and value.ndim == 2 and value.dtype.kind in "iuf":
            columns[name] = value.shape, lambda value=value: value.ravel()
    if sum(8 * take().size for _, take in columns.values()) > most:
        raise Refused(f"it holds more numbers than {most / 1e6:.3g} MB")
    return texts, columns, {}


def main(path, kind, most):
    import numpy as np

    out = os.fdopen(os.dup(1), "wb")
    try:
        read = {"hdf5": hdf5, "mat": mat, "matrices": matrices}[kind]
        attributes, columns, texts = read(path, int(most))
        shapes = {}
        if kind == "matrices":
            shapes = {name: shape for name, (shape, _) in columns.items()}
            columns = {name: ("", take) for name, (_, take) in columns.items()}
        made = {
            name: (unit, np.ascontiguousarray(take(), np.float64))
            for name, (unit, take) in columns.items()
        }
        head = {
            "attributes": attributes,
            "texts": texts,
            "shapes": shapes,
            "columns": [[n, u, int(v.size)] for n, (u, v) in made.items()],
        }
        line = json.dumps(head)
    except Refused as why:
        line = json.dumps({"error": str(why)})
        made = {}
    except MemoryError:
        line = json.dumps({"error": "it asks for more memory than there is for it"})
        made = {}
    except Exception as why:  # both libraries fail in many ways on what is no file of theirs
        words = " ".join(str(why).split())[:200]
        line = json.dumps({"error": words or type(why).__name__})
        made = {}
    out.write(line.encode() + b"\n")
    for _, values in made.values():
        out.write(values.data)
    out.flush()


def bounded():
    """Limits what memory this process may take, and lets it write no core."""
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (VIRTUAL, VIRTUAL))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    bounded()
    main(*sys.argv[1:])
