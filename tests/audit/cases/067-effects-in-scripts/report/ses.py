import boto3

ses = boto3.client("ses")


def invoice_mails(invoices):
    for invoice in invoices:
        ses.send_email(
            Source="billing@example.com",
            Destination={"ToAddresses": [invoice["mail"]]},
            Message={"Subject": {"Data": "Your invoice"}, "Body": {"Text": {"Data": invoice["text"]}}},
        )
