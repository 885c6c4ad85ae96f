"""The embedded local Spark of the demo."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

import firesteel

if TYPE_CHECKING:
    from pathlib import Path


def start(work: Path) -> SparkSession:
    """Start Spark with firesteel on all cores of this machine, and quietly.

    Args:
        work: Folder for what Spark leaves behind.

    Returns:
        A session that certainly has the extension.
    """
    with as_file(files("firesteel.demo") / "log4j2.properties") as logging:
        # Quoted, since Spark splits its options at spaces.
        options = f'"-Dlog4j2.configurationFile={logging}"'
        builder = (
            SparkSession.builder.master("local[*]")
            .appName("firesteel demo")
            .config("spark.driver.memory", "2g")
            .config("spark.driver.extraJavaOptions", options)
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.ui.enabled", False)
            .config("spark.ui.showConsoleProgress", False)
            .config("spark.sql.shuffle.partitions", 8)  # 200 are for clusters, and slow Spark down
            .config("spark.sql.warehouse.dir", str(work / "warehouse"))
        )
        spark = firesteel.configure(builder).getOrCreate()
    firesteel.check(spark)
    return spark
