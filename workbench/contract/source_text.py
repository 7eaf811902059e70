"""The text of a function or class of a user's, by which a record of a run tells it from another."""

from __future__ import annotations

import hashlib
import inspect
import tokenize
from weakref import WeakKeyDictionary

_read: WeakKeyDictionary[object, str] = (
    WeakKeyDictionary()
)  # what was read of a function or class when it was first asked for


def source_text(of: object) -> str:
    """What Python knows as its text; "" where it knows none: typed at a prompt, or its file is another by now.

    It is read once: a file that is written again later is not the text of what was made before.
    """
    try:
        if of not in _read:
            _read[of] = inspect.getsource(of)  # type: ignore[arg-type]
        return _read[of]
    except (OSError, TypeError, SyntaxError, tokenize.TokenError):
        return ""


def source_hash(of: object) -> str:
    """Sixteen hexadecimal digits of the text, or "unknown"."""
    text = source_text(of)
    return hashlib.sha256(text.encode()).hexdigest()[:16] if text else "unknown"
