"""Columns of Apache Arrow encrypted, decrypted, translated, authenticated, hashed and signed.

A column is any object with ``__arrow_c_array__`` or ``__arrow_c_stream__``: of pyarrow, Polars, DuckDB, DataFusion or
pandas. Results are arrays of pyarrow if it is installed, and otherwise objects that every such library reads.
"""

import pkgutil

from oarlock._errors import (
    BadRowError,
    ColumnTypeError,
    KeyRefusedError,
    MachineError,
    MalformedColumnError,
    OarlockError,
    OptionError,
    RejectedRowsWarning,
    ServerError,
    UnknownKeyError,
)
from oarlock._oarlock import CIPHERS, Keys, ResultColumn, __version__

# The modules that protoc makes for the cryptoserver are `oarlock.v1`, in another directory.
__path__ = pkgutil.extend_path(__path__, __name__)

__all__ = [
    "CIPHERS",
    "BadRowError",
    "ColumnTypeError",
    "KeyRefusedError",
    "Keys",
    "MachineError",
    "MalformedColumnError",
    "OarlockError",
    "OptionError",
    "RejectedRowsWarning",
    "ResultColumn",
    "ServerError",
    "UnknownKeyError",
    "__version__",
]
