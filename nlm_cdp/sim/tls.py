"""TLS for every host the simulator stands for: a throwaway CA, made at start, whose keys stay in memory.

Clients trust the CA file; Chromium is told to accept the one public key instead, so nothing is installed anywhere.
"""

from __future__ import annotations

import base64
import hashlib
import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING

import trustme
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Tls:
    """A server's context, the CA file that makes clients trust it, and its key as Chromium names it."""

    context: ssl.SSLContext
    ca: Path
    spki: str


def make_tls(hosts: Sequence[str], folder: Path) -> Tls:
    """A certificate for these hosts, signed by a new CA whose certificate is written to `folder`."""
    authority = trustme.CA()
    leaf = authority.issue_cert(*hosts)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_alpn_protocols(["http/1.1"])
    leaf.configure_cert(context)
    ca = folder / "ca.pem"
    authority.cert_pem.write_to_path(str(ca))
    return Tls(context, ca, spki_of(leaf.cert_chain_pems[0].bytes()))


def spki_of(certificate: bytes) -> str:
    """Base64 SHA-256 of a certificate's public key, the form of `--ignore-certificate-errors-spki-list`."""
    key = x509.load_pem_x509_certificate(certificate).public_key()
    der = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return base64.b64encode(hashlib.sha256(der).digest()).decode()
