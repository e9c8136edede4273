"""Letters with a code, sent by a mail server of the operator's."""

import asyncio
import re
import smtplib
import ssl
from email.message import EmailMessage
from urllib.parse import SplitResult, unquote, urlsplit

import structlog

from app.accounts.certificates import tls_context
from app.accounts.providers import ProviderUnavailableError
from app.store.classes import RefusedError

log = structlog.get_logger()

MAIL_SECONDS = 10.0
MAX_ADDRESS_CHARS = 254
ADDRESS = re.compile(
    r"(?=[^@]{1,64}@)[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*@[a-z0-9-]+(?:\.[a-z0-9-]+)+"
)
"""Without quotes and comments, which nobody has."""
ENCODED = "=?"
"""How a head of a letter begins a word in other letters: whoever reads it sends to another address than was typed."""
TEXT = """\
Your code is {code}

Type it where you asked for it, or open this page in that browser and press its button:

{link}

It holds for ten minutes. If you did not ask for it, do nothing: nobody gets in without it.
"""


def address_of(typed: str) -> str:
    """The address as it is looked up: spaces around it and capitals say nothing.

    Raises:
        RefusedError: It is none.
    """
    address = typed.strip().lower()
    if not ADDRESS.fullmatch(address) or ENCODED in address or len(address) > MAX_ADDRESS_CHARS:
        raise RefusedError("That is no e-mail address. It has the form name@example.org.")
    return address


class Mailer:
    """Sends by *server*, `smtp://user:password@host:587` or `smtps://host`, as *sender*."""

    def __init__(self, server: str, sender: str) -> None:
        self._server = urlsplit(server)
        self._sender = sender

    async def send(self, to: str, code: str, link: str) -> None:
        """
        Raises:
            ProviderUnavailableError: The mail server did not take it.
        """
        letter = EmailMessage()
        letter["From"], letter["To"], letter["Subject"] = self._sender, to, f"{code} is your code for Backhand"
        letter.set_content(TEXT.format(code=code, link=link))
        try:
            await asyncio.to_thread(_deliver, self._server, letter)
        except (smtplib.SMTPException, OSError) as error:
            log.warning("mail-not-sent", error=type(error).__name__)  # the text of it may hold the address
            raise ProviderUnavailableError(
                "The mail server did not take the letter. Try again in a while, or another way."
            ) from error


def _deliver(server: SplitResult, letter: EmailMessage) -> None:
    host = server.hostname or ""
    closed = server.scheme == "smtps"
    port = server.port or (465 if closed else 587)
    with (
        smtplib.SMTP_SSL(host, port, timeout=MAIL_SECONDS, context=tls_context())
        if closed
        else smtplib.SMTP(host, port, timeout=MAIL_SECONDS)
    ) as connection:
        if not closed and connection.ehlo()[0] and connection.has_extn("starttls"):
            connection.starttls(context=tls_context())
        if server.username:
            # Over a connection that anybody can read, smtplib would send the password all the same.
            if not isinstance(connection.sock, ssl.SSLSocket):
                raise smtplib.SMTPNotSupportedError("no TLS")
            connection.login(unquote(server.username), unquote(server.password or ""))
        connection.send_message(letter)
