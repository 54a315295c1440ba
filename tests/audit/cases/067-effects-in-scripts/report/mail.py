import smtplib
from email.message import EmailMessage


def send_report(body, day):
    message = EmailMessage()
    message["Subject"] = f"Revenue {day}"
    message["To"] = "cfo@example.com"
    message.set_content(body)
    with smtplib.SMTP("mail.example.com") as server:
        server.send_message(message)
