"""Sending e-mail: one message a delivery, and it is known at which word a server went away."""

from __future__ import annotations

import re
import smtplib
import ssl
import time
from contextlib import nullcontext, suppress
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, parseaddr
from typing import TYPE_CHECKING

from setpoint.effects.deadline import cut_at
from setpoint.effects.secret import expanded, scrubbed
from setpoint.errors import EffectRefused
from setpoint.model.verdict import Verdict, smtp_verdict

if TYPE_CHECKING:
    from setpoint.model.delivery import Delivery

GO_AHEAD = 354
PORTS = {"starttls": 587, "implicit": 465, "none": 25}
OK = range(200, 300)
LEADING_DOT = re.compile(rb"^\.", re.MULTILINE)


class EmailSender:
    """Speaks SMTP word by word: until the final dot nothing has arrived, after it nobody knows."""

    def send(self, delivery: Delivery) -> Verdict:
        """One attempt."""
        try:
            message = compose(delivery)
            verdict = _Session(delivery).send(message)
        except EffectRefused as error:
            verdict = Verdict(arrival="refused", reason=error.message)
        reason = scrubbed(verdict.reason, delivery.content)
        return Verdict(arrival=verdict.arrival, reason=reason, status=verdict.status)

    def close(self) -> None:
        """Nothing is kept open."""


def compose(delivery: Delivery) -> EmailMessage:
    """The message, byte for byte the same whenever it is made: date and id come from the outbox."""
    content = delivery.content
    sender = expanded(str(content["sender"]), what=f"the sender of effect {delivery.effect}")
    message = EmailMessage()
    message["From"] = _line(sender, "sender")
    message["To"] = ", ".join(_line(each, "address") for each in _addresses(delivery))
    message["Subject"] = _line(str(content["subject"]), "subject")
    message["Date"] = format_datetime(delivery.recorded_at)
    message["Message-ID"] = f"<{delivery.wire_key}@{_domain(sender)}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(str(content["text"]))
    return message


class _Session:
    """One conversation with a mail server."""

    def __init__(self, delivery: Delivery) -> None:
        self.delivery = delivery
        self.content = delivery.content
        self.until = time.monotonic() + delivery.terms.timeout
        self.may_have_arrived = False

    def send(self, message: EmailMessage) -> Verdict:
        smtp: smtplib.SMTP | None = None
        try:
            smtp = self._connect()
            with cut_at(smtp.sock, self.until) if smtp.sock else nullcontext():
                return self._talk(smtp, message)
        except smtplib.SMTPResponseException as error:
            return smtp_verdict(error.smtp_code, _text(error.smtp_error))
        except ssl.SSLCertVerificationError as error:
            reason = f"the mail server's certificate is not to be trusted: {error.verify_message}"
            return Verdict(arrival="refused", reason=reason)
        except (ValueError, smtplib.SMTPNotSupportedError) as error:
            # An address that the protocol cannot spell, no TLS: raised before anything was said.
            return Verdict(arrival="refused", reason=f"the mail cannot be sent so: {error}")
        except (OSError, smtplib.SMTPException) as error:
            if self.may_have_arrived:
                reason = "the mail server did not answer after the message"
                return Verdict(arrival="unclear", reason=f"{reason} ({type(error).__name__})")
            reason = str(error) or type(error).__name__
            return Verdict(arrival="again", reason=f"the mail server went away: {reason}")
        finally:
            if smtp is not None:
                smtp.close()

    def _connect(self) -> smtplib.SMTP:
        effect = self.delivery.effect
        server = expanded(str(self.content["server"]), what=f"the server of effect {effect}")
        tls = str(self.content["tls"])
        host, _, port = server.rpartition(":") if ":" in server else (server, "", "")
        number = int(port) if port.isdigit() else PORTS[tls]
        timeout = self.delivery.terms.timeout
        if tls == "implicit":
            context = ssl.create_default_context()
            return smtplib.SMTP_SSL(host, number, timeout=timeout, context=context)
        smtp = smtplib.SMTP(host, number, timeout=timeout)
        if tls == "starttls":
            smtp.starttls(context=ssl.create_default_context())
        return smtp

    def _talk(self, smtp: smtplib.SMTP, message: EmailMessage) -> Verdict:
        smtp.ehlo_or_helo_if_needed()
        if self.content.get("username"):
            what = f"the login of effect {self.delivery.effect}"
            username = expanded(str(self.content["username"]), what=what)
            smtp.login(username, expanded(str(self.content["password"]), what=what))
        code, said = smtp.mail(parseaddr(str(message["From"]))[1])
        for address in _addresses(self.delivery) if code in OK else ():
            code, said = smtp.rcpt(parseaddr(address)[1])
            if code not in OK:
                # All recipients or none: half of a message cannot be sent again.
                break
        if code in OK:
            code, said = smtp.docmd("DATA")
        if code != GO_AHEAD:
            smtp.close()
            return smtp_verdict(code if code not in OK else 554, _text(said))
        # A line that begins with a dot gets another, or it would end the message.
        body = LEADING_DOT.sub(b"..", message.as_bytes(policy=SMTP))
        smtp.send(body if body.endswith(b"\r\n") else body + b"\r\n")
        self.may_have_arrived = True
        smtp.send(b".\r\n")
        code, said = smtp.getreply()
        self.may_have_arrived = False
        verdict = smtp_verdict(code, _text(said))
        with suppress(OSError, smtplib.SMTPException):
            smtp.quit()
        return verdict


def _addresses(delivery: Delivery) -> list[str]:
    given = delivery.content["to"]
    found = [str(each) for each in given] if isinstance(given, list) else str(given).split(",")
    addresses = [each.strip() for each in found if each.strip()]
    if not addresses or not all("@" in parseaddr(each)[1] for each in addresses):
        raise EffectRefused(f"{given!r} is not an address")
    return addresses


def _line(text: str, what: str) -> str:
    if not text.isprintable():
        raise EffectRefused(f"the {what} holds a line break or control character")
    return text


def _domain(sender: str) -> str:
    return parseaddr(sender)[1].rpartition("@")[2] or "setpoint.invalid"


def _text(said: bytes | str) -> str:
    return said.decode(errors="replace") if isinstance(said, bytes) else str(said)
