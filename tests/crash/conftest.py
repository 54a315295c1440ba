"""Servers that outlive every client, and a project on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.crash.scene import Scene, open_servers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.postgres_server import PostgresServer
    from tests.spark_server import SparkServer


@pytest.fixture(scope="session")
def servers(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[SparkServer, PostgresServer]]:
    """One Spark and one Postgres for all crashes."""
    spark, postgres = open_servers(tmp_path_factory.mktemp("servers"))
    yield spark, postgres
    spark.close()
    postgres.close()


@pytest.fixture(scope="module")
def scene(
    servers: tuple[SparkServer, PostgresServer], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Scene]:
    """A project of its own for each file of tests."""
    scene = Scene(tmp_path_factory.mktemp("scene"), *servers)
    yield scene
    scene.close()
