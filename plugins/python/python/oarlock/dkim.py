"""DKIM signatures of a column of messages (RFC 6376)."""

from __future__ import annotations

import datetime
import time as clock
from collections.abc import Callable, Mapping
from typing import Any

import oarlock
from oarlock._oarlock import verify_mail

__all__ = ["verify"]


def verify(
    messages: Any,
    keys: Mapping[str, Any] | Callable[[str], Any],
    *,
    time: float | datetime.datetime | None = None,
    min_rsa_bits: int = 1024,
    accept_sha1: bool = False,
    accept_partial_body: bool = False,
) -> Any:
    """Verifies the signatures of each message, and returns a column of structs. Each describes the best signature.

    ``keys`` maps the name of a record, ``selector._domainkey.domain``, to its text, or to a list of texts. It may also be a
    function that does so. A name that is not there has no record. An ``OSError`` of the function, such as
    ``TimeoutError``, means that DNS gave no answer: the result is ``temperror``.

    ``time`` is the time at which signatures must be valid, by default now.
    """
    if isinstance(keys, Mapping):
        find = keys.get
    elif callable(keys):
        find = keys
    else:
        raise oarlock.OptionError("expected keys to be a mapping of names to key records, or a function")
    if not 1024 <= min_rsa_bits <= 4096:
        raise oarlock.OptionError(f"expected min_rsa_bits from 1024 to 4096, found {min_rsa_bits}")
    return verify_mail(
        messages, lambda name: _records(name, find(name)), _seconds(time), min_rsa_bits, accept_sha1, accept_partial_body
    )


def _records(name, found):
    """Returns records as a list of bytes."""
    if found is None:
        return []
    records = [found] if isinstance(found, (bytes, str)) else found
    try:
        return [record.encode() if isinstance(record, str) else bytes(record) for record in records]
    except TypeError:
        raise oarlock.OptionError(f"the records of {name}: expected a text or a list of texts") from None


def _seconds(time):
    if time is None:
        time = clock.time()
    elif isinstance(time, datetime.datetime):
        time = time.timestamp()
    if time < 0:
        raise oarlock.OptionError("expected a time after 1970")
    return int(time)
