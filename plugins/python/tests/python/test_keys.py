"""References, pickles, forks, threads, and texts without secrets."""

import multiprocessing
import os
import pickle
import threading

import pyarrow as pa
import pytest
from conftest import PAN

import oarlock

GCM = {"key": "pan", "cipher": "aes128-gcm"}
VALUES = pa.array([b"4111", None, b"5500"])


def test_a_reference_names_files_and_no_secrets(keys, home):
    reference = keys.reference()
    assert reference["kind"] == "file" and reference["path"] == str(home / "keys.ndjson")
    for text in (repr(reference), repr(keys), repr(pickle.dumps(keys))):
        assert PAN.hex() not in text and repr(PAN)[2:-1] not in text
    again = oarlock.Keys.open(reference)
    assert again.decrypt(keys.encrypt(VALUES, **GCM), **GCM).equals(VALUES)


def test_pickles_are_references(keys):
    copy = pickle.loads(pickle.dumps(keys))
    assert copy.reference() == keys.reference()
    assert copy.decrypt(keys.encrypt(VALUES, **GCM), **GCM).equals(VALUES)
    assert len(pickle.dumps(keys)) < 1000


@pytest.mark.parametrize(
    "secret",
    ["-----BEGIN PRIVATE KEY-----\nMIGH", '{"name":"pan","type":"aes128","hex":"00112233"}', "one\ntwo"],
)
def test_secrets_in_place_of_paths_are_refused_and_not_repeated(home, secret):
    made = [
        lambda: oarlock.Keys.file(secret),
        lambda: oarlock.Keys.file(home / "keys.ndjson", pem={"a": secret}),
        lambda: oarlock.Keys.unix(secret),
        lambda: oarlock.Keys.server("https://localhost:1", ca="ca", certificate="c", key=secret),
        lambda: oarlock.Keys.open({"kind": "file", "path": secret, "pem": {}}),
    ]
    for make in made:
        with pytest.raises(oarlock.OptionError, match="holds no secrets") as caught:
            make()
        assert secret not in str(caught.value) and "MIGH" not in str(caught.value)
    with pytest.raises(oarlock.OptionError, match="no others"):
        oarlock.Keys.open({"kind": "unix", "path": "a", "user": "b", "secret": "00112233"})
    with pytest.raises(oarlock.OptionError):
        oarlock.Keys.open({"kind": "secret"})


def test_files_that_cannot_be_used(home, tmp_path):
    with pytest.raises(oarlock.OptionError, match="missing.ndjson"):
        oarlock.Keys.file(home / "missing.ndjson")
    bad = tmp_path / "bad.ndjson"
    bad.write_text('{"name":"pan","type":"aes128","hex":"00112233445566778899aabbccddee"}')
    bad.chmod(0o600)
    with pytest.raises(oarlock.OptionError, match="line 1") as caught:
        oarlock.Keys.file(bad)
    assert "00112233" not in str(caught.value)
    bad.chmod(0o644)
    with pytest.raises(oarlock.OptionError, match="bad.ndjson"):
        oarlock.Keys.file(bad)
    for name in ("ed25519", "ml-dsa"):
        pem = tmp_path / f"{name}.pem"
        pem.write_bytes((home / "signing" / f"{name}.pem").read_bytes())
        pem.chmod(0o644)
        with pytest.raises(oarlock.OptionError, match=f"{name}.pem"):
            oarlock.Keys.file(home / "keys.ndjson", pem={"a": pem})
        pem.chmod(0o600)
        oarlock.Keys.file(home / "keys.ndjson", pem={"a": pem})
    with pytest.raises(oarlock.OptionError, match="https"):
        oarlock.Keys.server("http://localhost:1", ca="ca", certificate="c", key="k")


def in_fork(work):
    """Runs `work` in a forked child, and returns what it returns."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)

    def run():
        try:
            sender.send(work())
        except BaseException as error:  # the parent must learn it
            sender.send(error)

    process = context.Process(target=run)
    process.start()
    assert receiver.poll(60), "the child does not answer"
    answer = receiver.recv()
    process.join(60)
    assert process.exitcode == 0
    if isinstance(answer, BaseException):
        raise answer
    return answer


def test_forks_before_and_after_the_first_use(keys):
    def work():
        return keys.decrypt(keys.encrypt(VALUES, **GCM), **GCM).to_pylist()

    assert in_fork(work) == VALUES.to_pylist()
    assert work() == VALUES.to_pylist()
    assert in_fork(work) == VALUES.to_pylist()
    assert in_fork(lambda: in_fork_of_child(work)) == VALUES.to_pylist()


def in_fork_of_child(work):
    receiver, sender = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(sender, pickle.dumps(work()))
        os._exit(0)
    os.close(sender)
    with os.fdopen(receiver, "rb") as answer:
        found = pickle.loads(answer.read())
    os.waitpid(child, 0)
    return found


def test_forks_while_threads_compute(keys):
    values = pa.array([b"x" * 20] * 50_000)
    done = threading.Event()

    def compute():
        while not done.is_set():
            keys.encrypt(values, **GCM)

    threads = [threading.Thread(target=compute) for _ in range(2)]
    [thread.start() for thread in threads]
    try:
        for _ in range(10):
            assert in_fork(lambda: keys.decrypt(keys.encrypt(VALUES, **GCM), **GCM).to_pylist()) == VALUES.to_pylist()
    finally:
        done.set()
        [thread.join() for thread in threads]


def test_forked_children_draw_other_ivs(keys):
    def ivs():
        return {row[:12] for row in keys.encrypt(pa.array([b"a"] * 1000), **GCM).to_pylist()}

    sets = [in_fork(ivs), in_fork(ivs), ivs()]
    assert len(set().union(*sets)) == 3000


def test_the_interpreter_is_free_while_a_column_is_computed(keys):
    values = pa.array([b"x" * 64] * 1_000_000)
    counted, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    before = counted[0]
    keys.encrypt(values, **GCM)
    after = counted[0]
    done.set()
    thread.join()
    assert after - before > 1000
