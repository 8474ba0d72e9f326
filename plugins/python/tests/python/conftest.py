"""Keys and servers that the tests share. The Rust test beside this folder starts pytest and sets the variables."""

import os
import pathlib
import subprocess

import pytest

import oarlock

HOME = pathlib.Path(os.environ["OARLOCK_TEST_KEYS"])
PAN = bytes(range(16))
PAN256 = bytes(range(32))
CBC = bytes(range(0x20, 0x30))
IV = bytes(range(0x40, 0x50)) * 2
SIV = bytes(range(0x70, 0x80)) + bytes(range(16))
GCM_SIV = bytes(range(0x80, 0x90))
CODES = bytes(range(0x50, 0x60)) * 2


@pytest.fixture(scope="session")
def home():
    return HOME


@pytest.fixture
def keys():
    pem = {name: HOME / "signing" / f"{name}.pem" for name in ("rsa", "p256", "ed25519")}
    pem["p256-public"] = HOME / "p256.pub"
    return oarlock.Keys.file(HOME / "keys.ndjson", pem=pem)


class Server:
    """A cryptoserver in a process of its own."""

    def __init__(self):
        environment = dict(os.environ, OARLOCK_TEST_TASK="serve", OARLOCK_TEST_DIRECTORY=str(HOME))
        arguments = ["--exact", "child_process", "--nocapture", "--test-threads=1"]
        self.process = subprocess.Popen(
            [os.environ["OARLOCK_TEST_SERVER"], *arguments],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        said = []
        for line in self.process.stderr:
            if line.startswith("serves "):
                self.address = "https://" + line.split()[1].replace("127.0.0.1", "localhost")
                return
            said.append(line)
        raise AssertionError("".join(said))

    def kill(self):
        self.process.kill()
        self.process.wait()


@pytest.fixture
def server():
    server = Server()
    yield server
    server.kill()


@pytest.fixture
def unix(server):
    return oarlock.Keys.unix(HOME / "oarlock.sock")


@pytest.fixture
def tls(server):
    return oarlock.Keys.server(
        server.address,
        ca=HOME / "ca.pem",
        certificate=HOME / "client.pem",
        key=HOME / "client-key.pem",
    )
