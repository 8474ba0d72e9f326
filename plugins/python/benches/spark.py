"""Rows per second of Spark in local[2], by the clock: our encryption, `aes_encrypt`, and an `arrow_udf` that only casts.

Usage: PYTHONPATH=... python benches/spark.py KEYS.ndjson [ROWS]

The file has a key named pan (aes128, for GCM). All of them write to the sink `noop`, take turns, and are judged by their
medians.
"""

import json
import statistics
import sys
import time

import pyarrow
import pyspark.sql.functions as F
from pyspark.sql import SparkSession

import oarlock
import oarlock.spark

TURNS = 5


def main():
    path, rows = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 600_000
    keys = oarlock.Keys.file(path).reference()
    settings = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.driver.host": "127.0.0.1"}
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    frame = spark.range(rows, numPartitions=4).select(F.lpad(F.col("id").cast("string"), 16, "0").alias("pan")).cache()
    assert frame.count() == rows

    def cast(pan: pyarrow.Array) -> pyarrow.Array:
        return pan.cast(pyarrow.binary())

    contenders = {
        "oarlock.spark.encrypt": oarlock.spark.encrypt("pan", keys=keys, key="pan", cipher="aes128-gcm"),
        "aes_encrypt": F.expr("aes_encrypt(pan, 'sixteen byte key', 'GCM')"),
        "arrow_udf that casts": F.arrow_udf(cast, "binary")("pan"),
    }
    rates = {name: [] for name in contenders}
    # The first turn starts workers and compiles, and is not counted.
    for turn in range(TURNS + 1):
        for name, column in contenders.items():
            before = time.perf_counter()
            frame.select(column).write.format("noop").mode("overwrite").save()
            if turn > 0:
                rates[name].append(rows / (time.perf_counter() - before))
    own = statistics.median(rates["oarlock.spark.encrypt"])
    for name, found in rates.items():
        found = statistics.median(found)
        print(json.dumps({"name": name, "rows_per_s": round(found), "ratio": round(own / found, 2)}), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
