"""Columns of Spark, computed by the workers of PySpark.

The functions take the name of a column or a ``Column``, and return a ``Column``. ``keys`` is what ``Keys.reference()``
returns: the closure of a function holds the paths and addresses of keys, and no keys. Each worker opens the keys when it
first uses them, after the fork of ``pyspark.daemon``.

Spark may run a function more often than it is written: tasks are tried again, and speculation runs two attempts. So a
function is a pure function of its inputs, unless IVs are random.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import oarlock

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    Operand = str | Column

__all__ = ["check_partition_keys", "decrypt", "detokenise", "encrypt", "hash", "mac", "tokenise"]

#: The name that functions with random IVs have in plans.
RANDOM = "oarlock_random"

#: The ciphers without an IV.
SIV_CIPHERS = ("aes128-siv", "aes256-siv")

#: The keys that this process has opened, by their reference.
_opened: dict[str, oarlock.Keys] = {}


def encrypt(
    column: Operand,
    *,
    keys: dict[str, Any],
    key: str,
    cipher: str,
    iv: str | None = None,
    row_id: Operand | None = None,
    iv_key: str | None = None,
    aad: bytes | str | None = None,
    on_error: str = "raise",
) -> Column:
    """Encrypts a column of binary or string, in the layout of ``aes_encrypt``.

    With ``iv="derived"`` the same row has the same result in each attempt of a task, and with ``iv="zero"`` or AES-SIV
    the same value has. Random IVs are marked as nondeterministic. They are the default of all ciphers but AES-SIV.
    """
    options = {"key": key, "cipher": cipher, "iv": iv, "iv_key": iv_key, "aad": aad, "on_error": on_error}
    if iv == "derived" and row_id is not None and iv_key is not None:
        return _apply("encrypt", keys, options, column, beside=("row_id", row_id))
    if iv == "derived" or row_id is not None or iv_key is not None:
        raise oarlock.OptionError(
            'expected iv="derived" together with row_id, a column of ids that differ from row to row, and iv_key, the '
            "name of an HMAC key"
        )
    is_random = iv == "random" or (iv is None and cipher not in SIV_CIPHERS)
    return _apply("encrypt", keys, options, column, name=RANDOM if is_random else None)


def decrypt(
    column: Operand,
    *,
    keys: dict[str, Any],
    key: str,
    cipher: str,
    aad: bytes | str | None = None,
    on_error: str = "null",
) -> Column:
    """Decrypts a column that ``encrypt`` or ``aes_encrypt`` has encrypted."""
    return _apply("decrypt", keys, {"key": key, "cipher": cipher, "aad": aad, "on_error": on_error}, column)


def tokenise(
    column: Operand,
    *,
    keys: dict[str, Any],
    key: str,
    alphabet: str = "digits",
    keep_first: int = 0,
    keep_last: int = 0,
    luhn: bool = False,
    tweak: bytes | str | None = None,
    tweak_column: Operand | None = None,
    algorithm: str = "aes256-ff1",
    on_error: str = "raise",
) -> Column:
    """Replaces each text by a token of the same length and alphabet."""
    options = {
        "key": key,
        "alphabet": alphabet,
        "keep_first": keep_first,
        "keep_last": keep_last,
        "luhn": luhn,
        "tweak": tweak,
        "algorithm": algorithm,
        "on_error": on_error,
    }
    return _apply_tokens("tokenise", keys, options, column, tweak_column)


def detokenise(
    column: Operand,
    *,
    keys: dict[str, Any],
    key: str,
    alphabet: str = "digits",
    keep_first: int = 0,
    keep_last: int = 0,
    luhn: bool = False,
    tweak: bytes | str | None = None,
    tweak_column: Operand | None = None,
    algorithm: str = "aes256-ff1",
    on_error: str = "null",
) -> Column:
    """Replaces each token by its text. FF1 does not authenticate: a changed token is restored to another text."""
    options = {
        "key": key,
        "alphabet": alphabet,
        "keep_first": keep_first,
        "keep_last": keep_last,
        "luhn": luhn,
        "tweak": tweak,
        "algorithm": algorithm,
        "on_error": on_error,
    }
    return _apply_tokens("detokenise", keys, options, column, tweak_column)


def mac(
    column: Operand,
    *,
    keys: dict[str, Any],
    key: str,
    algorithm: str = "hmac-sha256",
    length: int | None = None,
    on_error: str = "raise",
) -> Column:
    """Makes the authentication code of each value."""
    options = {"key": key, "algorithm": algorithm, "length": length, "on_error": on_error}
    return _apply("mac", keys, options, column)


def hash(column: Operand, *, keys: dict[str, Any], algorithm: str = "sha256", on_error: str = "raise") -> Column:
    """Hashes each value."""
    return _apply("hash", keys, {"algorithm": algorithm, "on_error": on_error}, column)


def check_partition_keys(frame: DataFrame, *columns: Operand) -> DataFrame:
    """Returns the frame, if none of the columns is made by random IVs.

    Rows of one value would be in different partitions, and a task that is tried again would send rows to other
    partitions than before. Spark itself refuses nondeterministic columns in joins, sorts and aggregates.
    """
    plan = frame.select(*columns)._jdf.queryExecution().analyzed().toString()
    if RANDOM in plan:
        raise oarlock.OptionError(
            'a column that was encrypted under random IVs is no key of a join or a partition: use iv="derived", or an '
            "authentication code"
        )
    return frame


def _apply_tokens(method, keys, options, column, tweak_column):
    if tweak_column is None:
        return _apply(method, keys, options, column, value="string")
    if options["tweak"] is not None:
        raise oarlock.OptionError("expected tweak or tweak_column, and not both")
    return _apply(method, keys, options, column, beside=("tweak", tweak_column), value="string")


def _apply(method, keys, options, column, beside=None, name=None, value="binary"):
    from pyspark.sql.functions import arrow_udf, col

    _check_reference(keys)
    options = {option: value for option, value in options.items() if value is not None}
    has_struct = options.get("on_error") == "struct"
    returned = f"struct<value: {value}, error: string>" if has_struct else value

    if beside is None:

        def compute(values):
            return _run(keys, method, values, options)

    else:

        def compute(values, other):
            return _run(keys, method, values, {**options, beside[0]: _as_bytes(other)})

    compute.__name__ = compute.__qualname__ = name or f"oarlock_{method}"
    # The annotations of `pyarrow` tell Spark what the function takes. Texts are enough for it, but not for all versions.
    import pyarrow

    compute.__annotations__ = {argument: pyarrow.Array for argument in compute.__code__.co_varnames[: 1 + bool(beside)]}
    compute.__annotations__["return"] = pyarrow.Array
    function = arrow_udf(compute, returned)
    if name == RANDOM:
        function = function.asNondeterministic()
    operands = [column] if beside is None else [column, beside[1]]
    return function(*(col(operand) if isinstance(operand, str) else operand for operand in operands))


def _check_reference(keys):
    if isinstance(keys, oarlock.Keys) or not isinstance(keys, dict):
        raise oarlock.OptionError("expected keys=keys.reference(): a dictionary of paths and addresses")
    # A key in place of a path would stand in the plan of the query and in the event log.
    for value in [*keys.values(), *dict(keys.get("pem") or {}).values()]:
        if isinstance(value, bytes) or (isinstance(value, str) and ("-----BEGIN" in value or "\n" in value)):
            raise oarlock.OptionError("expected a reference of paths and addresses, found what may be a key itself")


def _run(reference, method, values, options):
    import warnings

    place = repr(sorted(reference.items(), key=str))
    keys = _opened.get(place)
    if keys is None:
        keys = _opened[place] = oarlock.Keys.open(reference)
    with warnings.catch_warnings():
        # Bad rows are null in the result, where a query can count them. Logs of executors are not read.
        warnings.simplefilter("ignore", oarlock.RejectedRowsWarning)
        return _as_declared(getattr(keys, method)(values, **options))


def _as_bytes(column):
    """Returns a column of row ids or tweaks as bytes. Numbers become their decimal digits."""
    import pyarrow

    kind = column.type
    if pyarrow.types.is_integer(kind):
        return column.cast(pyarrow.string())
    return column


def _as_declared(result):
    """Returns a result with the offsets that the declared type has."""
    import pyarrow

    small = {pyarrow.large_binary(): pyarrow.binary(), pyarrow.large_string(): pyarrow.string()}
    kind = result.type
    if kind in small:
        return result.cast(small[kind])
    if pyarrow.types.is_struct(kind) and kind.field(0).type in small:
        fields = [result.field(0).cast(small[kind.field(0).type]), result.field(1)]
        return pyarrow.StructArray.from_arrays(fields, names=["value", "error"])
    return result
