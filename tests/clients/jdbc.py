"""JDBC from Python: a Java of its own with PostgreSQL's driver, reached through py4j."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyspark
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

from tests.clients.places import Place

DRIVER = Path("/usr/share/java/postgresql.jar")
MISSING = (
    "the tests need PostgreSQL's JDBC driver; `make servers` says how to install the package "
    "libpostgresql-jdbc-java, or PG_JDBC=... names the jar"
)


class Jdbc:
    """Connections of java.sql, and their results as values of Python."""

    def __init__(self, gateway: Any) -> None:
        self._gateway = gateway
        self.jvm = gateway.jvm

    @contextmanager
    def connect(self, place: Place, **more: object) -> Iterator[Any]:
        """A connection, closed in the end."""
        words = {"options": place.options, **more}
        asked = "&".join(f"{name}={quote(str(value))}" for name, value in words.items())
        address = f"jdbc:postgresql://{place.host}:{place.port}/{place.database}?{asked}"
        client = self.jvm.java.sql.DriverManager.getConnection(address, place.user, place.password)
        try:
            yield client
        finally:
            client.close()

    def texts(self, *values: str) -> Any:
        """An array of texts, as Java wants it."""
        array = self._gateway.new_array(self.jvm.java.lang.String, len(values))
        for place, value in enumerate(values):
            array[place] = value
        return array


@contextmanager
def started() -> Iterator[Jdbc]:
    """A Java with the driver; Spark brings what py4j needs there."""
    driver = Path(os.environ.get("PG_JDBC", DRIVER))
    assert driver.exists(), MISSING
    (bridge,) = (Path(pyspark.__file__).parent / "jars").glob("py4j*.jar")
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    port, token, process = launch_gateway(
        jarpath=str(bridge),
        classpath=str(driver),
        java_path=java,
        die_on_exit=True,
        enable_auth=True,
        return_proc=True,
    )
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port, auth_token=token))
    try:
        yield Jdbc(gateway)
    finally:
        gateway.shutdown()
        process.stdin.close()
        process.wait()


def kinds(result: Any) -> list[tuple[str, str, int, str]]:
    """Name, type of PostgreSQL, type of JDBC and class of each column."""
    told = result.getMetaData()
    return [
        (
            told.getColumnLabel(n),
            told.getColumnTypeName(n),
            told.getColumnType(n),
            told.getColumnClassName(n),
        )
        for n in range(1, told.getColumnCount() + 1)
    ]


def rows(result: Any) -> list[tuple[Any, ...]]:
    """All rows that are left; days and moments as texts."""
    count = result.getMetaData().getColumnCount()
    read = []
    while result.next():
        values = [result.getObject(n) for n in range(1, count + 1)]
        read.append(tuple(v.toString() if hasattr(v, "toString") else v for v in values))
    return read
