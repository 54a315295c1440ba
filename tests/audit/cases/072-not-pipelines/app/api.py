from datetime import datetime, timedelta

from fastapi import FastAPI

app = FastAPI()


@app.post("/users")
def create_user(user: dict, db):
    db.execute("INSERT INTO users (name, created_at) VALUES (%s, %s)", (user["name"], datetime.now()))


@app.post("/sessions")
def login(db, user_id: int):
    expires = datetime.utcnow() + timedelta(hours=8)
    db.execute("INSERT INTO session (user_id, expires_at) VALUES (%s, %s)", (user_id, expires))


@app.post("/articles/{article_id}/like")
def like(db, article_id: int):
    db.execute("UPDATE article SET likes = likes + 1 WHERE id = %s", (article_id,))
