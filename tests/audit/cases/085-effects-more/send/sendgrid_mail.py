from sendgrid import SendGridAPIClient
from sendgrid.helpers.mail import Mail


def weekly(client: SendGridAPIClient, html: str) -> None:
    client.send(Mail(from_email="bi@example.com", to_emails="all@example.com", subject="Week", html_content=html))
