"""The exceptions of Oarlock. No text contains a value or key material."""


class OarlockError(Exception):
    """An error of Oarlock."""


class ColumnTypeError(OarlockError, TypeError):
    """An object is no column, or a column has a type without bytes."""


class MalformedColumnError(OarlockError, ValueError):
    """The buffers of a column contradict each other."""


class OptionError(OarlockError, ValueError):
    """An option or a file does not fit."""


class UnknownKeyError(OarlockError, LookupError):
    """There is no such key."""


class KeyRefusedError(OarlockError, PermissionError):
    """The policy of a key, or its type, does not allow the operation."""


class BadRowError(OarlockError, ValueError):
    """A row is bad, and the caller asked for an error in that case."""

    def __init__(self, message, row=-1, reason=""):
        super().__init__(message)
        self.row = row
        self.reason = reason

    def __reduce__(self):
        return type(self), (str(self), self.row, self.reason)


class ServerError(OarlockError, ConnectionError):
    """The cryptoserver does not answer, or has failed."""


class MachineError(OarlockError, RuntimeError):
    """This machine has failed."""


class RejectedRowsWarning(UserWarning):
    """Bad rows became null, and nobody counts them."""
