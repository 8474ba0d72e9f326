import os
from collections.abc import Mapping
from typing import Any, Literal, Protocol, TypeAlias

class ArrowArrayExportable(Protocol):
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

class ArrowStreamExportable(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

Column: TypeAlias = ArrowArrayExportable | ArrowStreamExportable
OnError: TypeAlias = Literal["null", "struct", "raise"]
Path: TypeAlias = str | os.PathLike[str]

__version__: str
CIPHERS: list[str]

class OarlockError(Exception): ...
class ColumnTypeError(OarlockError, TypeError): ...
class MalformedColumnError(OarlockError, ValueError): ...
class OptionError(OarlockError, ValueError): ...
class UnknownKeyError(OarlockError, LookupError): ...
class KeyRefusedError(OarlockError, PermissionError): ...

class BadRowError(OarlockError, ValueError):
    row: int
    reason: str

class ServerError(OarlockError, ConnectionError): ...
class MachineError(OarlockError, RuntimeError): ...
class RejectedRowsWarning(UserWarning): ...

class ResultColumn:
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...
    def __arrow_c_schema__(self) -> object: ...
    def __len__(self) -> int: ...

class Keys:
    @staticmethod
    def file(path: Path, *, pem: Mapping[str, Path] | None = None) -> Keys: ...
    @staticmethod
    def server(address: str, *, ca: Path, certificate: Path, key: Path) -> Keys: ...
    @staticmethod
    def unix(path: Path = "/run/oarlock/oarlock.sock", *, user: str = "oarlock") -> Keys: ...
    @staticmethod
    def open(reference: dict[str, Any]) -> Keys: ...
    def reference(self) -> dict[str, Any]: ...
    def encrypt(
        self,
        column: Column,
        *,
        key: str,
        cipher: str,
        iv: Literal["random", "derived", "zero"] | None = None,
        row_id: Column | None = None,
        iv_key: str | None = None,
        aad: bytes | str | Column | None = None,
        on_error: OnError = "null",
        rejected: dict[str, int] | None = None,
    ) -> Any: ...
    def decrypt(
        self,
        column: Column,
        *,
        key: str,
        cipher: str,
        aad: bytes | str | Column | None = None,
        on_error: OnError = "null",
        rejected: dict[str, int] | None = None,
    ) -> Any: ...
    def translate(
        self,
        column: Column,
        *,
        key: str,
        cipher: str,
        to_key: str,
        to_cipher: str | None = None,
        aad: bytes | str | Column | None = None,
        on_error: OnError = "null",
        rejected: dict[str, int] | None = None,
    ) -> Any: ...
    def tokenise(
        self,
        column: Column,
        *,
        key: str,
        alphabet: str = "digits",
        keep_first: int = 0,
        keep_last: int = 0,
        luhn: bool = False,
        tweak: bytes | str | Column | None = None,
        algorithm: str = "aes256-ff1",
        on_error: OnError = "null",
        rejected: dict[str, int] | None = None,
    ) -> Any: ...
    def detokenise(
        self,
        column: Column,
        *,
        key: str,
        alphabet: str = "digits",
        keep_first: int = 0,
        keep_last: int = 0,
        luhn: bool = False,
        tweak: bytes | str | Column | None = None,
        algorithm: str = "aes256-ff1",
        on_error: OnError = "null",
        rejected: dict[str, int] | None = None,
    ) -> Any: ...
    def mac(
        self,
        column: Column,
        *,
        key: str,
        algorithm: str = "hmac-sha256",
        length: int | None = None,
        on_error: OnError = "null",
        rejected: dict[str, int] | None = None,
    ) -> Any: ...
    def verify_mac(
        self,
        column: Column,
        codes: Column,
        *,
        key: str,
        algorithm: str = "hmac-sha256",
        length: int | None = None,
        on_error: OnError = "null",
        rejected: dict[str, int] | None = None,
    ) -> Any: ...
    def hash(
        self,
        column: Column,
        *,
        algorithm: str = "sha256",
        on_error: OnError = "null",
        rejected: dict[str, int] | None = None,
    ) -> Any: ...
    def sign(
        self,
        column: Column,
        *,
        key: str,
        algorithm: str | None = None,
        on_error: OnError = "null",
        rejected: dict[str, int] | None = None,
    ) -> Any: ...
    def verify(
        self,
        column: Column,
        signatures: Column,
        *,
        key: str,
        algorithm: str | None = None,
        on_error: OnError = "null",
        rejected: dict[str, int] | None = None,
    ) -> Any: ...
