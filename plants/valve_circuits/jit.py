"""Compilation of the kernels by Numba, cached on disk by the text of all of them.

Numba's own cache looks at the time stamp of one file only, and would keep what it has inlined from another that has changed since.
It trusts whatever it finds on disk, which it unpickles; here it is in the folder of `workbench.numerics.code_cache`, each file with
its checksum.
"""

from __future__ import annotations

import hashlib
import os
import pickle
from pathlib import Path

import numba
from numba.core import caching

from workbench.numerics import code_cache

_FOLDER = Path(__file__).parent
_STAMP = hashlib.sha256(b"".join(f.read_bytes() for f in sorted(_FOLDER.glob("*.py")))).hexdigest()[
    :12
]
_DIGEST = hashlib.sha256().digest_size


class _Files(caching.IndexDataCacheFile):
    """Numba's files with the checksum of each at its end; one that is damaged counts as not there."""

    def _load_index(self) -> dict:
        try:
            data = _intact(Path(self._index_path))
            version, stamp, overloads = pickle.loads(data)
        except Exception:  # no index, or none of this version of Numba
            return {}
        fresh = version == self._version and stamp == self._source_stamp
        return overloads if fresh else {}

    def _save_index(self, overloads) -> None:
        self._write(self._index_path, self._dump((self._version, self._source_stamp, overloads)))

    def _load_data(self, name):
        return pickle.loads(_intact(Path(self._data_path(name))))

    def _save_data(self, name, data) -> None:
        self._write(self._data_path(name), self._dump(data))

    def _write(self, path, data: bytes) -> None:
        with self._open_for_write(path) as file:
            file.write(data + hashlib.sha256(data).digest())
            file.flush()
            os.fsync(file.fileno())


def _intact(path: Path) -> bytes:
    """The file's content without its checksum. Raises OSError, which Numba takes for a file that is not there."""
    data = path.read_bytes()
    content = data[:-_DIGEST]
    digest = data[-_DIGEST:]
    if hashlib.sha256(content).digest() != digest:
        raise OSError(f"{path}: damaged")
    return content


def jit(function):
    """`function` compiled: IEEE division, no interpreter lock held; not cached where no folder can be written."""
    function.__qualname__ = f"{function.__qualname__}_{_STAMP}"
    compiled = numba.njit(error_model="numpy", nogil=True)(function)
    kept = _cache_of(function, str(code_cache.folder() / "numba"))
    if kept is not None:
        compiled._cache = kept
    return compiled


def _cache_of(function, where: str) -> caching.FunctionCache | None:
    """Numba's cache of a function in this folder and nowhere else; None where it cannot be made."""
    given = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = where  # read when a cache is made
    try:
        kept = caching.FunctionCache(function)
    except (OSError, RuntimeError):  # no place for a cache
        return None
    finally:
        numba.config.CACHE_DIR = given
    if not kept.cache_path.startswith(where + os.sep):
        return None
    locator = kept._impl.locator
    kept._cache_file = _Files(kept.cache_path, kept._impl.filename_base, locator.get_source_stamp())
    return kept
