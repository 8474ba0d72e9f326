"""Files of pyarrow through the program and back: every kind of column, both forms, with and without compression."""

import itertools
import subprocess
import sys

import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc

PROGRAM = sys.argv[1]
ROWS = ["4111111111111111", None, "", "a value that is longer than a view", "4111111111111111", "\u00e9"]
OTHER = pa.array([[1, 2], None, [], [3], [4], [5]])
KINDS = {
    "string": pa.array(ROWS),
    "large_string": pa.array(ROWS, pa.large_string()),
    "string_view": pa.array(ROWS, pa.string_view()),
    "binary": pa.array(ROWS).cast(pa.binary()),
    "large_binary": pa.array(ROWS, pa.large_string()).cast(pa.large_binary()),
    "fixed": pa.array([row and row.encode()[:1] * 5 for row in ROWS[:2] + ROWS[:2] * 2], pa.binary(5)),
    "dictionary": pa.array(ROWS).dictionary_encode(),
    "null": pa.nulls(len(ROWS)),
}
FORMS = {"in.arrow": pa.ipc.new_file, "in.arrows": pa.ipc.new_stream}
GCM = ["--column", "pan", "--cipher", "aes128-gcm", "--key-file", "key"]


def run(*words):
    subprocess.run([PROGRAM, "records", *words], check=True)


def read(name):
    opened = pa.ipc.open_file(name) if name.endswith(".arrow") else pa.ipc.open_stream(name)
    return opened.read_all()


def as_bytes(column):
    return [value.encode() if isinstance(value, str) else value for value in column.to_pylist()]


count = 0
for (kind, column), name, codec in itertools.product(KINDS.items(), FORMS, [None, "lz4", "empty"]):
    table = pa.table({"pan": column, "other": OTHER, "kind": pa.array(ROWS).dictionary_encode()})
    table = table.replace_schema_metadata({"owner": "payments"})
    options = pa.ipc.IpcWriteOptions(compression=codec if codec == "lz4" else None)
    with FORMS[name](name, table.schema, options=options) as writer:
        if codec != "empty":
            writer.write_table(table, max_chunksize=4)
    sealed = name.replace("in", "sealed")
    run("encrypt", name, "-o", sealed, *GCM)
    run("decrypt", sealed, "-o", "back.arrow", *GCM)
    back = read("back.arrow")
    back.validate(full=True)
    expected = table if codec != "empty" else table.slice(0, 0)
    assert as_bytes(back["pan"]) == as_bytes(expected["pan"]), kind
    assert back.drop(["pan"]).equals(expected.drop(["pan"]), check_metadata=True), kind
    assert read(sealed)["pan"].null_count == expected["pan"].null_count, kind
    count += 1
pa.feather.write_feather(pa.table({"pan": ROWS}), "in.feather")
run("encrypt", "in.feather", "-o", "sealed.feather", *GCM)
run("decrypt", "sealed.feather", "-o", "back.feather", *GCM, "--encoding", "text")
assert pa.feather.read_table("back.feather")["pan"].to_pylist() == ROWS
pa.feather.write_feather(pa.table({"pan": ROWS}), "in.feather", compression="zstd")
words = ["records", "encrypt", "in.feather", "-o", "out.feather", *GCM]
refused = subprocess.run([PROGRAM, *words], capture_output=True, text=True)
assert refused.returncode == 2 and "in.feather, batch 0: it is compressed by Zstandard" in refused.stderr, refused.stderr
# What writers of 2020 made: messages of version 4, and a footer of version 5 around them.
for name, new in FORMS.items():
    table = pa.table({"pan": ROWS, "kind": pa.array(ROWS).dictionary_encode()})
    options = pa.ipc.IpcWriteOptions(metadata_version=pa.ipc.MetadataVersion.V4)
    with new(name, table.schema, options=options) as writer:
        writer.write_table(table)
    run("encrypt", name, "-o", "sealed.arrow", *GCM)
    run("decrypt", "sealed.arrow", "-o", "back.arrow", *GCM, "--encoding", "text")
    assert read("back.arrow").equals(table), name
    count += 1
print(count, "files came back")
