# cause: effect
# checks: two,effects
# record: MAIL_HOST:MAIL_PORT
"""Mails the warehouse in every run."""

import os
import smtplib
import sys
from email.message import EmailMessage

message = EmailMessage()
message["Subject"] = f"Orders of {sys.argv[1]}"
message["From"], message["To"] = "jobs@shop.example", "warehouse@shop.example"
with smtplib.SMTP(os.environ["MAIL_HOST"], int(os.environ["MAIL_PORT"])) as smtp:
    smtp.send_message(message)
