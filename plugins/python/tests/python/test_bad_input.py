"""Wrong types, wrong options, refused keys, and structures that contradict each other."""

import ctypes
from types import MappingProxyType

import pyarrow as pa
import pytest

import oarlock

GCM = {"key": "pan", "cipher": "aes128-gcm"}


@pytest.mark.parametrize(
    "column", [pa.array([1, 2]), pa.array([[b"a"]]), pa.table({"a": [b"a"]}), [1.5, 2.5], 7, object()], ids=str
)
def test_columns_without_bytes(keys, column):
    with pytest.raises(oarlock.ColumnTypeError):
        keys.encrypt(column, **GCM)
    with pytest.raises(TypeError):
        keys.hash(column)


@pytest.mark.parametrize(
    "column",
    ["4111", b"4111", bytearray(b"4111"), {"a": b"1"}, MappingProxyType({"a": b"1"}), {b"1"}, frozenset([b"1"])],
    ids=repr,
)
def test_values_that_are_not_lists_of_rows(keys, column):
    with pytest.raises(oarlock.ColumnTypeError, match="pass a list"):
        keys.encrypt(column, **GCM)
    with pytest.raises(oarlock.ColumnTypeError, match="pass a list"):
        keys.mac(column, key="codes")


def test_options(keys):
    values = pa.array([b"a"])
    cases = [
        ({"key": "pan", "cipher": "aes-gcm"}, "unknown cipher"),
        ({**GCM, "iv": "zero"}, "cannot have the same IV twice"),
        ({**GCM, "iv": "one"}, "unknown iv"),
        ({"key": "siv", "cipher": "aes128-siv", "iv": "random"}, "has no IV in columns"),
        ({**GCM, "on_error": "skip"}, "unknown on_error"),
        ({**GCM, "iv": "derived"}, "needs row_id"),
        ({**GCM, "row_id": values}, "belong to iv"),
        ({"key": "cbc", "cipher": "aes128-cbc", "aad": b"x"}, "no associated data"),
    ]
    for options, text in cases:
        with pytest.raises(oarlock.OptionError, match=text):
            keys.encrypt(values, **options)
    with pytest.raises(oarlock.OptionError, match="as many as the values"):
        keys.encrypt(values, aad=pa.array(["x", "y"]), **GCM)
    with pytest.raises(oarlock.OptionError, match="4 to 32 bytes"):
        keys.mac(values, key="codes", length=33)


def test_options_of_tokens(keys):
    texts = pa.array(["123456"])
    cases = [
        ({"alphabet": "decimal"}, "unknown alphabet"),
        ({"alphabet": "chars:a"}, "an alphabet of 1 characters"),
        ({"alphabet": "hex", "luhn": True}, "needs the alphabet digits"),
        ({"algorithm": "ff3"}, "unknown algorithm of tokens"),
        ({"tweak": b"t" * 65_537}, "65536 at most"),
        ({"tweak": pa.array(["a", "b"])}, "the tweak has 2 rows"),
    ]
    for options, text in cases:
        for function in (keys.tokenise, keys.detokenise):
            with pytest.raises(oarlock.OptionError, match=text):
                function(texts, key="tokens", **options)
    for number in (-1, 1.5):
        with pytest.raises((TypeError, OverflowError)):
            keys.tokenise(texts, key="tokens", keep_first=number)


def test_refused_keys(keys):
    values = pa.array([b"a"] * 20)
    with pytest.raises(oarlock.UnknownKeyError, match="nobody"):
        keys.encrypt(values, key="nobody", cipher="aes128-gcm")
    with pytest.raises(oarlock.KeyRefusedError, match="seal-only"):
        keys.decrypt(keys.encrypt(values, key="seal-only", cipher="aes128-gcm"), key="seal-only", cipher="aes128-gcm")
    with pytest.raises(oarlock.KeyRefusedError, match="another type"):
        keys.mac(values, key="pan")
    with pytest.raises(oarlock.KeyRefusedError, match="IV from this source"):
        keys.encrypt(values, iv="derived", row_id=values, iv_key="iv", **GCM)
    with pytest.raises(oarlock.KeyRefusedError, match="maximum number of uses"):
        keys.mac(values, key="scarce")
    with pytest.raises(oarlock.KeyRefusedError, match="does not sign|cannot use"):
        keys.sign(values, key="p256-public")
    with pytest.raises(oarlock.UnknownKeyError, match="nobody"):
        keys.sign(values, key="nobody")


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


RELEASE_SCHEMA = ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))
RELEASE_ARRAY = ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))
Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.c_void_p),
    ("dictionary", ctypes.c_void_p),
    ("release", RELEASE_SCHEMA),
    ("private_data", ctypes.c_void_p),
]
Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.c_void_p),
    ("dictionary", ctypes.c_void_p),
    ("release", RELEASE_ARRAY),
    ("private_data", ctypes.c_void_p),
]
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Made:
    """A column whose structures are made by hand, and whose releases are counted."""

    def __init__(self, layout=b"z", length=2, offsets=(0, 1, 2), n_buffers=3, data=b"ab", is_released=False):
        self.releases = [0, 0]
        self.memory = [(ctypes.c_int32 * len(offsets))(*offsets), ctypes.create_string_buffer(data)]
        pointers = [None, *(ctypes.cast(part, ctypes.c_void_p) for part in self.memory)]
        self.buffers = (ctypes.c_void_p * 3)(*pointers)

        def release_schema(schema):
            self.releases[0] += 1
            schema.contents.release = RELEASE_SCHEMA(0)

        def release_array(array):
            self.releases[1] += 1
            array.contents.release = RELEASE_ARRAY(0)

        self.callbacks = RELEASE_SCHEMA(release_schema), RELEASE_ARRAY(release_array)
        self.schema = Schema(layout, b"", None, 2, 0, None, None, self.callbacks[0], None)
        release = RELEASE_ARRAY(0) if is_released else self.callbacks[1]
        self.array = Array(length, 0, 0, n_buffers, 0, self.buffers, None, None, release, None)

    def __arrow_c_array__(self, requested_schema=None):
        return (
            new_capsule(ctypes.addressof(self.schema), b"arrow_schema", None),
            new_capsule(ctypes.addressof(self.array), b"arrow_array", None),
        )


def test_structures_are_released_once(keys):
    made = Made()
    assert keys.hash(made).to_pylist() == keys.hash(pa.array([b"a", b"b"])).to_pylist()
    assert made.releases == [1, 1]
    # Errors before the computation, in it, and after it.
    for options in [{"key": "nobody", "cipher": "aes128-gcm"}, {"key": "pan", "cipher": "nothing"}]:
        made = Made()
        with pytest.raises(oarlock.OarlockError):
            keys.encrypt(made, **options)
        assert made.releases == [1, 1]
    made = Made()
    with pytest.raises(oarlock.BadRowError):
        keys.decrypt(made, on_error="raise", **GCM)
    assert made.releases == [1, 1]


@pytest.mark.parametrize(
    "fault",
    [
        {"layout": b"?!"},
        {"layout": b"i"},
        {"offsets": (0, 5, 2)},
        {"offsets": (0, -1, 2)},
        {"offsets": (0, 1, -1)},
        {"n_buffers": 1},
        {"n_buffers": 0},
        {"length": -1},
        {"is_released": True},
    ],
    ids=str,
)
def test_malformed_structures_are_errors_and_released_once(keys, fault):
    made = Made(**fault)
    with pytest.raises(oarlock.OarlockError):
        keys.hash(made)
    assert made.releases == [1, 0 if "is_released" in fault else 1]


def test_capsules_of_other_names(keys):
    class Wrong(Made):
        def __arrow_c_array__(self, requested_schema=None):
            capsules = super().__arrow_c_array__()
            return capsules[1], capsules[0]

    class NoTuple:
        def __arrow_c_array__(self, requested_schema=None):
            return 7

    for column in (Wrong(), NoTuple()):
        with pytest.raises((TypeError, ValueError)):
            keys.hash(column)


def test_an_exception_of_the_column_is_passed_on(keys):
    class Failing:
        def __arrow_c_stream__(self, requested_schema=None):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        keys.hash(Failing())


class Stream(ctypes.Structure):
    pass


GET_SCHEMA = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))
GET_NEXT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))
GET_ERROR = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(Stream))
RELEASE_STREAM = ctypes.CFUNCTYPE(None, ctypes.POINTER(Stream))
Stream._fields_ = [
    ("get_schema", GET_SCHEMA),
    ("get_next", GET_NEXT),
    ("get_last_error", GET_ERROR),
    ("release", RELEASE_STREAM),
    ("private_data", ctypes.c_void_p),
]


class MadeStream:
    """A stream of one good array, after which it fails, or passes a malformed array."""

    def __init__(self, second=None):
        self.releases, self.left = 0, [Made(), second]
        self.made = list(self.left)
        self.text = ctypes.create_string_buffer(b"the source has ended")

        def get_schema(stream, out):
            ctypes.memmove(out, ctypes.byref(self.made[0].schema), ctypes.sizeof(Schema))
            return 0

        def get_next(stream, out):
            array = self.left.pop(0)
            if array is None:
                return 5
            ctypes.memmove(out, ctypes.byref(array.array), ctypes.sizeof(Array))
            return 0

        def release(stream):
            self.releases += 1
            stream.contents.release = RELEASE_STREAM(0)

        get_error = GET_ERROR(lambda stream: ctypes.addressof(self.text))
        self.stream = Stream(GET_SCHEMA(get_schema), GET_NEXT(get_next), get_error, RELEASE_STREAM(release), None)

    def __arrow_c_stream__(self, requested_schema=None):
        return new_capsule(ctypes.addressof(self.stream), b"arrow_array_stream", None)


def test_a_stream_that_fails_in_the_middle(keys):
    stream = MadeStream()
    with pytest.raises(oarlock.MalformedColumnError, match="the source has ended"):
        keys.hash(stream)
    assert stream.releases == 1 and stream.made[0].releases == [1, 1]


def test_a_stream_with_a_malformed_array(keys):
    stream = MadeStream(Made(offsets=(0, 1, -1)))
    with pytest.raises(oarlock.MalformedColumnError, match="the last offset is negative"):
        keys.hash(stream)
    assert stream.releases == 1 and [made.releases[1] for made in stream.made] == [1, 1]
