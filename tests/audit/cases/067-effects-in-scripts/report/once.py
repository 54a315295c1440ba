import smtplib


def send_once(conn, day, message):
    with conn, conn.cursor() as cur:
        cur.execute("INSERT INTO sent_report (day) VALUES (%s) ON CONFLICT (day) DO NOTHING", (day,))
        if cur.rowcount == 0:
            return
        with smtplib.SMTP("mail.example.com") as server:
            server.send_message(message)
