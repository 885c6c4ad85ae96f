"""The embedded local Spark of the demo."""

from __future__ import annotations

import logging
from pathlib import Path

from pyspark.sql import SparkSession

import firesteel


def start(work: Path) -> SparkSession:
    """Start Spark with firesteel on all cores of this machine, and quietly.

    Args:
        work: Folder for what Spark leaves behind.

    Returns:
        A session that certainly has the extension.
    """
    quiet = Path(__file__).with_name("log4j2.properties")
    builder = (
        SparkSession.builder.master("local[*]")
        .appName("firesteel demo")
        .config("spark.driver.memory", "2g")
        # Quoted, since Spark splits its options at spaces.
        .config("spark.driver.extraJavaOptions", f'"-Dlog4j2.configurationFile={quiet}"')
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", False)
        .config("spark.ui.showConsoleProgress", False)
        .config("spark.sql.shuffle.partitions", 8)  # 200 are for clusters, and slow Spark down
        .config("spark.sql.warehouse.dir", str(work / "warehouse"))
    )
    # PySpark's own logger prints an error of Spark even where it is caught.
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    session = firesteel.configure(builder).getOrCreate()
    firesteel.check(session)
    return session
