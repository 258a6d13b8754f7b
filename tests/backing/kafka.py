"""One broker of Apache Kafka, its own controller, from the jars that Maven resolves."""

from __future__ import annotations

import asyncio
import base64
import fcntl
import os
import shutil
import socket
import subprocess
import uuid
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError

from tests.backing import server

VERSION = "4.3.1"
LOG4J = "2.25.3"
SLF4J = "2.0.17"
MAVEN_SECONDS = 600
PROPERTIES, LOGGING = "server.properties", "log4j2.properties"
JAVA = ["java", "-Xms256m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:ActiveProcessorCount=2"]


def missing() -> str:
    """Why it can't be had here; empty = it can. The first call fetches the jars."""
    for program in ("java", "mvn"):
        if shutil.which(program) is None:
            return f"there is no {program} on PATH"
    try:
        _jars()
    except subprocess.SubprocessError as error:
        return f"Maven could not fetch the jars of Kafka {VERSION}: {error}"
    return ""


def start() -> tuple[server.Server, str]:
    """A fresh broker and its address."""
    running = server.Server("kafka", server.new_data("kafka"))
    return running, begin(running)


def start_far() -> tuple[server.Server, str, int]:
    """A fresh broker, its address, and the port at which it tells those who come by way of it to find it."""
    running = server.Server("kafka", server.new_data("kafka"))
    port, told = server.free_ports(2)
    begin(running, listener=f"FAR://127.0.0.1:{port}", advertised=f"FAR://127.0.0.1:{told}")
    return running, f"127.0.0.1:{port}", told


def begin(
    broker: server.Server,
    more: str = "",
    listener: str = "",
    format_words: Sequence[str] = (),
    advertised: str | None = None,
) -> str:
    """Format and start it; its address without security.

    more: lines of its properties. listener: another one. advertised: what is told of that, if not where it is.
    """
    port, controller = server.free_ports(2)
    properties = broker.data / PROPERTIES
    settings = {
        "broker": port,
        "controller": controller,
        "data": broker.data / "topics",
        "listeners": f",{listener}" if listener else "",
        "advertised": f",{advertised or listener}" if listener else "",
    }
    properties.write_text(_PROPERTIES.format(**settings) + more)
    (broker.data / LOGGING).write_text(_LOGGING)
    # Its first letter is no dash, which the tool would take for an option.
    cluster = base64.urlsafe_b64encode(b"\0" + uuid.uuid4().bytes[1:]).decode().rstrip("=")
    words = ["kafka.tools.StorageTool", "format", "--cluster-id", cluster, "-c", str(properties), *format_words]
    with open(broker.log, "wb") as log:
        subprocess.run([*_java(broker), *words], stdout=log, stderr=log, check=True)
    address = f"127.0.0.1:{port}"
    run(broker, address)
    return address


def run(broker: server.Server, address: str) -> None:
    """Start the broker, for the first time or again."""
    words = [*_java(broker), "kafka.Kafka", str(broker.data / PROPERTIES)]
    broker.start(words, {}, lambda: asyncio.run(_answers(address)))


def _java(broker: server.Server) -> list[str]:
    return [*JAVA, f"-Dlog4j2.configurationFile={broker.data / LOGGING}", "-cp", f"{_jars()}/*"]


async def _answers(address: str) -> bool:
    """Whether the broker says who is in its cluster."""
    with socket.socket() as probe:
        host, port = address.split(":")
        if probe.connect_ex((host, int(port))):
            return False  # asked this way first, because the client logs every try
    admin = AIOKafkaAdminClient(bootstrap_servers=address, request_timeout_ms=5000)
    try:
        await admin.start()
        return bool((await admin.describe_cluster())["brokers"])
    except KafkaError:
        return False
    finally:
        await admin.close()


@cache
def _jars() -> Path:
    """The folder of the jars, fetched once a machine. Raises SubprocessError."""
    folder = server.cache() / f"kafka-{VERSION}-log4j-{LOG4J}"
    with open(server.cache() / "kafka.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            unfinished = folder.with_suffix(".unfinished")
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir()
            _fetch(unfinished)
            os.rename(unfinished, folder)
    return folder


def _fetch(folder: Path) -> None:
    pom = folder / "pom.xml"
    needed = {
        "org.apache.kafka:kafka_2.13": VERSION,
        "org.apache.logging.log4j:log4j-slf4j2-impl": LOG4J,
        "org.apache.logging.log4j:log4j-core": LOG4J,
        "org.apache.logging.log4j:log4j-api": LOG4J,
        "org.slf4j:slf4j-api": SLF4J,
    }
    listed = "".join(
        f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version></dependency>"
        for name, version in needed.items()
        for group, artifact in [name.split(":")]
    )
    pom.write_text(_POM.format(dependencies=listed))
    words = ["mvn", "-B", "-q", "-f", str(pom), "dependency:copy-dependencies", "-DincludeScope=runtime"]
    done = subprocess.run(
        [*words, f"-DoutputDirectory={folder}"], capture_output=True, text=True, timeout=MAVEN_SECONDS, check=False
    )
    if done.returncode:
        raise subprocess.SubprocessError(" ".join((done.stdout + done.stderr).split())[:500])


_POM = """\
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>propwash</groupId><artifactId>kafka-for-tests</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>{dependencies}</dependencies>
</project>
"""
_PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{broker},CONTROLLER://127.0.0.1:{controller}{listeners}
advertised.listeners=PLAINTEXT://127.0.0.1:{broker}{advertised}
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,FAR:PLAINTEXT,SECURE:SASL_SSL
log.dirs={data}
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
transaction.abort.timed.out.transaction.cleanup.interval.ms=1000
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
log.cleaner.dedupe.buffer.size=16777216
log.cleaner.backoff.ms=1000
"""
_LOGGING = """\
rootLogger.level = warn
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{ISO8601} %p %c - %m%n
"""
