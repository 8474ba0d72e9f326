"""Keys at a cryptoserver."""

import pickle
import subprocess
import sys
import threading

import pyarrow as pa
import pytest
from conftest import HOME, PAN, Server
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from test_keys import in_fork

import oarlock

GCM = {"key": "pan", "cipher": "aes128-gcm"}
VALUES = pa.array([b"4111", None, b"", b"x" * 100])


@pytest.fixture(params=["unix", "tls"])
def remote(request):
    return request.getfixturevalue(request.param)


def test_a_server_computes_what_a_file_computes(remote, keys):
    sealed = remote.encrypt(VALUES, **GCM)
    assert keys.decrypt(sealed, **GCM).equals(VALUES)
    assert [row and AESGCM(PAN).decrypt(row[:12], row[12:], None) for row in sealed.to_pylist()] == VALUES.to_pylist()
    assert remote.decrypt(keys.encrypt(VALUES, **GCM), **GCM).equals(VALUES)
    cbc = {"key": "cbc", "cipher": "aes128-cbc"}
    assert keys.decrypt(remote.encrypt(VALUES, **cbc), **cbc).equals(VALUES)
    assert remote.mac(VALUES, key="codes").equals(keys.mac(VALUES, key="codes"))
    assert remote.hash(VALUES).equals(keys.hash(VALUES))
    derived = {"key": "joined", "cipher": "aes128-gcm", "iv": "derived", "iv_key": "iv", "row_id": ["1", "2", "3", "4"]}
    assert remote.encrypt(VALUES, **derived).equals(keys.encrypt(VALUES, **derived))
    siv = {"key": "siv", "cipher": "aes128-siv", "aad": b"cards.pan"}
    assert remote.encrypt(VALUES, **siv).equals(keys.encrypt(VALUES, **siv))
    gcm_siv = {"key": "gcm-siv", "cipher": "aes128-gcm-siv"}
    assert remote.encrypt(VALUES, iv="zero", **gcm_siv).equals(keys.encrypt(VALUES, iv="zero", **gcm_siv))
    assert remote.decrypt(keys.encrypt(VALUES, **gcm_siv), **gcm_siv).equals(VALUES)
    texts, tokens = pa.array(["4111111111111111", None, "123456"]), {"key": "tokens", "tweak": pa.array(["a", None, ""])}
    assert remote.tokenise(texts, **tokens).equals(keys.tokenise(texts, **tokens))
    assert remote.detokenise(keys.tokenise(texts, **tokens), **tokens).equals(texts)
    moved = remote.translate(sealed, to_key="pan256", to_cipher="aes256-gcm", **GCM)
    assert keys.decrypt(moved, key="pan256", cipher="aes256-gcm").equals(VALUES)
    for name in ("p256", "rsa", "ed25519"):
        signatures = remote.sign(VALUES, key=name)
        assert keys.verify(VALUES, signatures, key=name).to_pylist() == [True, None, True, True]
        assert remote.verify(VALUES, signatures, key=name).to_pylist() == [True, None, True, True]


def test_many_rows_and_one_bad_tag(remote, keys):
    values = pa.array([b"%08d" % number for number in range(50_000)])
    sealed = remote.encrypt(values, **GCM).to_pylist()
    assert keys.decrypt(pa.array(sealed), **GCM).equals(values)
    sealed[40_000] = sealed[40_000][:-1] + bytes([sealed[40_000][-1] ^ 1])
    counts = {}
    opened = remote.decrypt(pa.array(sealed), rejected=counts, **GCM)
    assert counts == {"the tag does not verify": 1} and opened.null_count == 1 and not opened[40_000].is_valid


def test_refusals_of_a_server(remote):
    with pytest.raises(oarlock.KeyRefusedError, match="nobody"):
        remote.encrypt(VALUES, key="nobody", cipher="aes128-gcm")
    # A refused key does not spoil later calls.
    assert remote.encrypt(VALUES, **GCM).null_count == 1
    sealed = remote.encrypt(VALUES, key="seal-only", cipher="aes128-gcm")
    with pytest.raises(oarlock.KeyRefusedError, match="seal-only"):
        remote.decrypt(sealed, key="seal-only", cipher="aes128-gcm")
    with pytest.raises(oarlock.KeyRefusedError):
        remote.sign(VALUES, key="nobody")


def test_a_value_that_no_message_takes_is_a_bad_row(unix):
    counts = {}
    sealed = unix.encrypt(pa.array([b"x" * (16 << 20), b"a"]), rejected=counts, **GCM)
    assert counts == {"the value is too long": 1} and sealed.null_count == 1


def test_pickles_and_forks(unix, keys):
    copy = pickle.loads(pickle.dumps(unix))
    assert unix.reference() == {"kind": "unix", "path": str(HOME / "oarlock.sock"), "user": "oarlock"}

    def work():
        return keys.decrypt(copy.encrypt(VALUES, **GCM), **GCM).to_pylist()

    assert in_fork(work) == VALUES.to_pylist(), "before the first use"
    assert work() == VALUES.to_pylist()
    assert in_fork(work) == VALUES.to_pylist(), "after the first use"
    assert work() == VALUES.to_pylist(), "the parent's connection still works"


def test_a_server_that_goes_away_in_the_middle(keys):
    server = Server()
    unix = oarlock.Keys.unix(HOME / "oarlock.sock")
    values = pa.array([b"x" * 100] * 400_000)
    unix.encrypt(VALUES, **GCM)
    begun, failures = threading.Event(), []

    def compute():
        try:
            while True:
                begun.set()
                unix.encrypt(values, **GCM)
        except oarlock.OarlockError as error:
            failures.append(error)

    thread = threading.Thread(target=compute)
    thread.start()
    begun.wait()
    server.kill()
    thread.join(60)
    assert not thread.is_alive()
    assert isinstance(failures[0], oarlock.ServerError), failures
    again = Server()
    try:
        assert keys.decrypt(unix.encrypt(VALUES, **GCM), **GCM).equals(VALUES), "a server that is back serves"
    finally:
        again.kill()


def test_no_server():
    with pytest.raises(oarlock.ServerError, match="nowhere"):
        oarlock.Keys.unix(HOME / "nowhere.sock").encrypt(VALUES, **GCM)
    with pytest.raises(ConnectionError):
        oarlock.Keys.unix(HOME / "nowhere.sock").mac(VALUES, key="codes")


@pytest.mark.parametrize("order", ["insert(0, folder)", "append(folder)"])
def test_generated_modules_of_the_service_stand_beside(tmp_path, order):
    generated = tmp_path / "oarlock" / "v1"
    generated.mkdir(parents=True)
    (generated / "cryptoserver_pb2.py").write_text("NAME = 'generated'\n")
    program = f"""
import sys
folder = sys.argv[1]
sys.path.{order}
import oarlock
from oarlock.v1 import cryptoserver_pb2
print(oarlock.Keys.__name__, cryptoserver_pb2.NAME)
"""
    ended = subprocess.run([sys.executable, "-c", program, tmp_path], capture_output=True, text=True, check=True)
    assert ended.stdout == "Keys generated\n"
