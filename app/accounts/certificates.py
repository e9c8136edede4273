"""Whom this machine trusts, by the certificates that it has."""

import ssl
from functools import cache

import httpx2


@cache
def tls_context() -> ssl.SSLContext:
    """TLS context of all connections that leave this process, made once: it reads all certificates."""
    return httpx2.create_ssl_context()
