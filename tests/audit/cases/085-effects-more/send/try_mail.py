import smtplib
from email.mime.text import MIMEText


def run(job):
    try:
        job()
    except Exception as error:
        with smtplib.SMTP("mail.example.com") as server:
            server.sendmail("etl@example.com", ["oncall@example.com"], MIMEText(str(error)).as_string())
        raise


def draft(body):
    message = MIMEText(body)
    message["Subject"] = "draft"
    return message
