"""Spark: columns of DataFrames, on one machine and on a cluster whose executors are killed."""

import hashlib
import hmac
import os
import pathlib
import signal
import sys
import threading

import pyarrow as pa
import pytest
from conftest import CBC, CODES, HOME, PAN
from test_manual import examples

import oarlock
import oarlock.spark as columns

pyspark_sql = pytest.importorskip("pyspark.sql")
from pyspark.sql import functions as F  # noqa: E402

GCM = {"key": "pan", "cipher": "aes128-gcm"}
DERIVED = {"key": "joined", "cipher": "aes128-gcm", "iv": "derived", "iv_key": "iv", "row_id": "id"}
REFERENCE = oarlock.Keys.file(HOME / "keys.ndjson").reference()
ROWS = [(1, "4111"), (2, None), (3, ""), (4, "x" * 50)]


def session(master, **settings):
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    builder = pyspark_sql.SparkSession.builder.master(master)
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"],
        "spark.sql.warehouse.dir": str(HOME / "warehouse"),
        **settings,
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


@pytest.fixture(scope="module")
def spark():
    spark = session("local[2]")
    spark.sparkContext.setLogLevel("ERROR")
    yield spark
    spark.stop()


@pytest.fixture
def frame(spark):
    return spark.createDataFrame(ROWS, "id long, pan string")


def values(frame, name="pan"):
    return [row[name] and bytes(row[name]) for row in frame.orderBy("id").collect()]



def test_columns_come_back(frame):
    sealed = frame.withColumn("pan", columns.encrypt("pan", keys=REFERENCE, **GCM))
    opened = sealed.withColumn("pan", columns.decrypt("pan", keys=REFERENCE, **GCM))
    assert values(opened) == [value if value is None else value.encode() for _, value in ROWS]
    assert opened.select(F.col("pan").cast("string")).count() == len(ROWS)


@pytest.mark.parametrize(
    ("key", "cipher", "secret", "mode", "aad"),
    [("pan", "aes128-gcm", PAN, "GCM", "cards.pan"), ("cbc", "aes128-cbc", CBC, "CBC", None)],
)
def test_aes_encrypt_and_aes_decrypt_of_spark(frame, key, cipher, secret, mode, aad):
    given = "" if aad is None else f", 'DEFAULT', '{aad}'"
    sealed = frame.withColumn("pan", columns.encrypt("pan", keys=REFERENCE, key=key, cipher=cipher, aad=aad))
    theirs = sealed.withColumn("pan", F.expr(f"aes_decrypt(pan, unhex('{secret.hex()}'), '{mode}'{given})"))
    assert values(theirs) == [value if value is None else value.encode() for _, value in ROWS]
    given = "" if aad is None else f", 'DEFAULT', '', '{aad}'"
    sealed = frame.withColumn("pan", F.expr(f"aes_encrypt(pan, unhex('{secret.hex()}'), '{mode}'{given})"))
    opened = sealed.withColumn(
        "pan", columns.decrypt("pan", keys=REFERENCE, key=key, cipher=cipher, aad=aad, on_error="raise")
    )
    assert values(opened) == [value if value is None else value.encode() for _, value in ROWS]


def test_codes_and_hashes(frame):
    made = frame.select(
        "id",
        columns.mac("pan", keys=REFERENCE, key="codes").alias("code"),
        columns.hash("pan", keys=REFERENCE).alias("hash"),
        F.unhex(F.sha2("pan", 256)).alias("sha2"),
    )
    assert values(made, "hash") == values(made, "sha2")
    expected = [value if value is None else hmac.digest(CODES, value.encode(), "sha256") for _, value in ROWS]
    assert values(made, "code") == expected


def test_bad_rows(spark):
    frame = spark.createDataFrame([(1, bytearray(28)), (2, None)], "id long, pan binary")
    assert values(frame.withColumn("pan", columns.decrypt("pan", keys=REFERENCE, **GCM))) == [None, None]
    pair = frame.withColumn("pan", columns.decrypt("pan", keys=REFERENCE, on_error="struct", **GCM))
    errors = [row.pan.error for row in pair.orderBy("id").collect()]
    assert errors == ["the tag does not verify", None]
    with pytest.raises(Exception, match="the tag does not verify"):
        frame.select(columns.decrypt("pan", keys=REFERENCE, on_error="raise", **GCM)).collect()


def test_derived_ivs_are_the_same_in_each_run(frame):
    sealed = frame.withColumn("pan", columns.encrypt("pan", keys=REFERENCE, **DERIVED))
    ids = pa.array([str(id_) for id_, _ in ROWS])
    keys = oarlock.Keys.open(REFERENCE)
    options = {**DERIVED, "row_id": ids}
    expected = keys.encrypt(pa.array([value for _, value in ROWS]), **options).to_pylist()
    assert values(sealed) == expected == values(sealed.repartition(3))


def test_values_that_join_and_tokens(spark, frame):
    siv = columns.encrypt("pan", keys=REFERENCE, key="siv", cipher="aes128-siv")
    sealed = columns.check_partition_keys(frame.withColumn("sealed", siv), "sealed")
    keys = oarlock.Keys.open(REFERENCE)
    column = pa.array([value for _, value in ROWS])
    assert values(sealed, "sealed") == keys.encrypt(column, key="siv", cipher="aes128-siv").to_pylist()
    assert sealed.repartition("sealed").join(sealed.select("sealed"), "sealed").count() == 3
    zero = columns.encrypt("pan", keys=REFERENCE, key="gcm-siv", cipher="aes128-gcm-siv", iv="zero")
    assert columns.check_partition_keys(frame.withColumn("sealed", zero), "sealed").count() == 4
    random = columns.encrypt("pan", keys=REFERENCE, key="gcm-siv", cipher="aes128-gcm-siv")
    with pytest.raises(oarlock.OptionError, match="no key of a join"):
        columns.check_partition_keys(frame.withColumn("sealed", random), "sealed")

    texts = ["4111111111111111", None, "123456", "12x456"]
    cards = spark.createDataFrame(list(enumerate(texts)), "id long, pan string")
    for options in [{}, {"tweak": "cards"}, {"tweak_column": "id"}]:
        tokens = cards.withColumn(
            "pan", columns.tokenise("pan", keys=REFERENCE, key="tokens", on_error="null", **options)
        )
        assert tokens.schema["pan"].dataType.typeName() == "string"
        tweak = pa.array(["0", "1", "2", "3"]) if "tweak_column" in options else options.get("tweak")
        expected = keys.tokenise(pa.array(texts), key="tokens", tweak=tweak, rejected={}).to_pylist()
        assert [row.pan for row in tokens.orderBy("id").collect()] == expected
        back = tokens.withColumn("pan", columns.detokenise("pan", keys=REFERENCE, key="tokens", **options))
        assert [row.pan for row in back.orderBy("id").collect()] == [*texts[:3], None]
    with pytest.raises(oarlock.OptionError, match="not both"):
        columns.tokenise("pan", keys=REFERENCE, key="tokens", tweak="a", tweak_column="id")


def test_random_ivs_are_no_keys_of_joins_and_partitions(frame):
    sealed = frame.withColumn("sealed", columns.encrypt("pan", keys=REFERENCE, **GCM))
    with pytest.raises(Exception, match="(?i)deterministic"):
        other = frame.withColumnRenamed("pan", "other")
        other.join(frame, columns.encrypt("pan", keys=REFERENCE, **GCM) == F.col("other").cast("binary")).collect()
    with pytest.raises(oarlock.OptionError, match="no key of a join or a partition"):
        columns.check_partition_keys(sealed, "sealed")
    derived = frame.withColumn("sealed", columns.encrypt("pan", keys=REFERENCE, **DERIVED))
    assert columns.check_partition_keys(derived, "sealed") is derived
    codes = frame.withColumn("code", columns.mac("pan", keys=REFERENCE, key="codes"))
    joined = columns.check_partition_keys(codes, "code").join(codes.select("code"), "code")
    assert joined.count() == 3


def test_keys_do_not_travel(frame):
    keys = oarlock.Keys.open(REFERENCE)
    with pytest.raises(oarlock.OptionError, match="reference"):
        columns.encrypt("pan", keys=keys, **GCM)
    with pytest.raises(oarlock.OptionError, match="may be a key"):
        columns.mac("pan", keys={"kind": "file", "path": "-----BEGIN PRIVATE KEY-----", "pem": {}}, key="codes")
    with pytest.raises(oarlock.OptionError, match="row_id"):
        columns.encrypt("pan", keys=REFERENCE, key="pan", cipher="aes128-gcm", iv="derived")
    column = columns.encrypt("pan", keys=REFERENCE, **GCM)
    plan = frame.select(column)._jdf.queryExecution().toString()
    assert PAN.hex() not in plan


def test_the_example_of_the_manual(spark, server):
    [example] = [example for example in examples() if "pyspark" in example]
    scope = {"__name__": "manual"}
    exec(example.replace("/run/oarlock/oarlock.sock", str(HOME / "oarlock.sock")), scope)
    rows = [tuple(row) for row in scope["opened"].orderBy("id").collect()]
    assert rows == [(1, "4111111111111111"), (2, None)]


def executors():
    """Returns the numbers of the executors of this driver."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes()
        except OSError:
            continue
        if b"CoarseGrainedExecutorBackend" in command and str(HOME).encode() in command:
            found.append(int(path.parent.name))
    return found


def test_a_killed_executor_loses_and_doubles_nothing(spark):
    spark.stop()
    cluster = session(
        "local-cluster[2,1,1024]",
        **{
            "spark.executor.memory": "1g",
            "spark.speculation": "true",
            "spark.speculation.quantile": "0.3",
            "spark.speculation.multiplier": "1.01",
            "spark.speculation.interval": "50ms",
            "spark.speculation.minTaskRuntime": "0ms",
            # A mark in the command by which the test finds its own executors.
            "spark.executor.extraJavaOptions": f"-Doarlock.test={HOME}",
        },
    )
    try:
        cluster.sparkContext.setLogLevel("OFF")
        rows, parts = 400_000, 60
        frame = cluster.range(rows, numPartitions=parts).select("id", F.col("id").cast("string").alias("pan"))
        sealed = frame.withColumn("pan", columns.encrypt("pan", keys=REFERENCE, **DERIVED))
        tracker, killed, is_over = cluster.sparkContext.statusTracker(), [], threading.Event()

        def kill():
            # The first executor that this finds after some tasks are done.
            while not is_over.wait(0.02):
                stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
                if any(stage and 5 <= stage.numCompletedTasks for stage in stages):
                    for process in executors()[:1]:
                        os.kill(process, signal.SIGKILL)
                        killed.append(process)
                    return

        killer = threading.Thread(target=kill)
        killer.start()
        collected = sealed.collect()
        is_over.set()
        killer.join()
        assert killed, "an executor was killed while tasks ran"
    finally:
        cluster.stop()
    digest = hashlib.sha256()
    collected.sort(key=lambda row: row.id)
    for row in collected:
        digest.update(bytes(row.pan))
    assert [row.id for row in collected] == list(range(rows)), "no row is lost, and none is there twice"
    column = pa.array([str(number) for number in range(rows)])
    expected = oarlock.Keys.open(REFERENCE).encrypt(column, **{**DERIVED, "row_id": column})
    own = hashlib.sha256()
    for value in expected.to_pylist():
        own.update(value)
    assert digest.digest() == own.digest(), "the same bytes, whatever attempt of a task has made them"
