"""A port that speaks TLS with a certificate that nobody vouches for."""

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


class _Quiet(HTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """A client that does not trust us says so by leaving."""


@contextmanager
def untrusted_port(folder: Path) -> Iterator[int]:
    """The port, for as long as the block lasts."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(self_signed(folder / "certificate.pem"))
    with _Quiet(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        # The handshake is done where its failure is caught: when the request is read.
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


def self_signed(path: Path) -> Path:
    """A certificate for 127.0.0.1 with its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    address = x509.IPAddress(ip_address("127.0.0.1"))
    made = _certificate("localhost", key, "localhost", key, address)
    path.write_bytes(made.public_bytes(_PEM) + _private(key))
    return path


def issued(folder: Path, host: str) -> tuple[Path, Path]:
    """An authority's certificate, and one for a host with its chain and its key."""
    authority, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    root = _certificate("Test authority", authority, "Test authority", authority, None)
    own = _certificate(host, key, "Test authority", authority, x509.DNSName(host))
    (folder / "ca.pem").write_bytes(root.public_bytes(_PEM))
    chain = own.public_bytes(_PEM) + root.public_bytes(_PEM)
    (folder / "host.pem").write_bytes(chain + _private(key))
    return folder / "ca.pem", folder / "host.pem"


_PEM = serialization.Encoding.PEM


def _certificate(
    subject: str,
    key: ec.EllipticCurvePrivateKey,
    issuer: str,
    issuer_key: ec.EllipticCurvePrivateKey,
    name: x509.GeneralName | None,
) -> x509.Certificate:
    builder = (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(_name(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2120, 1, 1, tzinfo=UTC))
    )
    if name is None:
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
    else:
        builder = builder.add_extension(x509.SubjectAlternativeName([name]), critical=False)
    return builder.sign(issuer_key, hashes.SHA256())


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])


def _private(key: ec.EllipticCurvePrivateKey) -> bytes:
    pkcs8 = serialization.PrivateFormat.PKCS8
    return key.private_bytes(_PEM, pkcs8, serialization.NoEncryption())
