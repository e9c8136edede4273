"""Whom this machine trusts, by the certificates that it has."""

import ssl
from functools import cache

import httpx2


@cache
def trusted() -> ssl.SSLContext:
    """For every connection that leaves this process: to read the certificates takes longer than to answer a page."""
    return httpx2.create_ssl_context()
