"""The examples of docs/python.md, which run one after the other."""

import os
import pathlib
import re
import shutil

from conftest import HOME, Server


def examples():
    text = pathlib.Path(os.environ["OARLOCK_TEST_MANUAL"]).read_text()
    return re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_examples_run(monkeypatch, tmp_path):
    shutil.copy(HOME / "keys.ndjson", tmp_path)
    shutil.copy(HOME / "signing" / "p256.pem", tmp_path / "orders.pem")
    monkeypatch.chdir(tmp_path)
    found = [example for example in examples() if "pyspark" not in example]
    assert len(found) >= 8
    server = Server()
    try:
        scope = {"__name__": "manual"}
        for example in found:
            example = example.replace("/run/oarlock/oarlock.sock", str(HOME / "oarlock.sock"))
            example = example.replace("https://crypto:7443", server.address)
            for name in ("ca.pem", "client.pem", "client-key.pem"):
                example = example.replace(f'"/etc/oarlock/{name}"', repr(str(HOME / name)))
            exec(compile(example, "docs/python.md", "exec"), scope)
    finally:
        server.kill()


def test_every_method_and_option_is_described():
    import inspect

    import oarlock

    text = pathlib.Path(os.environ["OARLOCK_TEST_MANUAL"]).read_text()
    methods = [name for name in vars(oarlock.Keys) if not name.startswith("_")]
    assert len(methods) >= 13
    for name in methods:
        assert f"`{name}(" in text or f"Keys.{name}(" in text, name
        for option in list(inspect.signature(getattr(oarlock.Keys, name)).parameters)[1:]:
            assert f"`{option}`" in text or f"{option}=" in text or option == "column", f"{name}: {option}"
    for error in oarlock.__all__:
        if error.endswith(("Error", "Warning")):
            assert f"`{error}`" in text, error
