"""DoorPlace: where clients of PostgreSQL come in, and the certificate they see."""

from __future__ import annotations

import ipaddress
import ssl
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from eke.errors import ServiceError

_MOST_PORT = 65_535


@dataclass(frozen=True, slots=True)
class DoorPlace:
    """An address, a port, and a certificate for TLS."""

    host: str
    port: int
    certificate: Path | None = None
    key: Path | None = None

    @staticmethod
    def of(text: str, certificate: Path | None = None, key: Path | None = None) -> DoorPlace:
        """From a text such as 127.0.0.1:5433; passwords travel over this machine or within TLS."""
        host, _, port = text.rpartition(":")
        if not host or not port.isdigit() or int(port) > _MOST_PORT:
            raise ServiceError("give an address and a port, for example 127.0.0.1:5433")
        place = DoorPlace(host.strip("[]"), int(port), certificate, key)
        if certificate is None and not place.is_local:
            raise ServiceError(
                "beyond this machine passwords travel within TLS only; give --pg-certificate and "
                "--pg-key, or listen on 127.0.0.1"
            )
        return place

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        if self.host == "localhost":
            return True
        with suppress(ValueError):
            return ipaddress.ip_address(self.host).is_loopback
        return False

    def tls(self) -> ssl.SSLContext | None:
        """What TLS needs; None without a certificate."""
        if self.certificate is None:
            return None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            context.load_cert_chain(self.certificate, self.key)
        except (OSError, ssl.SSLError):
            raise ServiceError(
                f"{self.certificate} and its key cannot be read as a certificate in PEM"
            ) from None
        return context
