"""A broker that lets nobody in without TLS and a login: PLAIN, SCRAM-SHA-512 or a bearer token."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.backing import kafka, server

USER, PASSWORD = "engine", "only-on-this-machine"
STORE_PASSWORD = "store-password"


@dataclass(frozen=True)
class Secured:
    server: server.Server
    address: str
    certificates: Path
    """What a client must trust."""


def missing() -> str:
    return kafka.missing() or ("" if shutil.which("keytool") else "there is no keytool on PATH")


def start() -> Secured:
    running = server.Server("kafka-secured", server.new_data("kafka"))
    (port,) = server.free_ports(1)
    store, certificates = running.data / "broker.p12", running.data / "ca.pem"
    keytool = ["keytool", "-keystore", str(store), "-storepass", STORE_PASSWORD, "-alias", "broker"]
    subject = ["-dname", "CN=127.0.0.1", "-ext", "san=ip:127.0.0.1"]
    for words in (
        [*keytool, "-genkeypair", "-keyalg", "RSA", "-storetype", "PKCS12", "-validity", "2", *subject],
        [*keytool, "-exportcert", "-rfc", "-file", str(certificates)],
    ):
        subprocess.run(words, check=True, capture_output=True)
    more = _MORE.format(port=port, store=store, password=STORE_PASSWORD, user=USER, secret=PASSWORD)
    scram = ["--add-scram", f"SCRAM-SHA-512=[name={USER},password={PASSWORD}]"]
    kafka.begin(running, more=more, listener=f"SECURE://127.0.0.1:{port}", format_words=scram)
    return Secured(running, f"127.0.0.1:{port}", certificates)


_MORE = """\
ssl.keystore.type=PKCS12
ssl.keystore.location={store}
ssl.keystore.password={password}
ssl.key.password={password}
listener.name.secure.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-512,OAUTHBEARER
listener.name.secure.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \
user_{user}="{secret}";
listener.name.secure.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.secure.oauthbearer.sasl.jaas.config=\
org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";
"""
