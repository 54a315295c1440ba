"""add plan"""
import sqlalchemy as sa
from alembic import op

revision = "ab12"
down_revision = "aa11"


def upgrade():
    op.create_table("plan", sa.Column("id", sa.Integer, primary_key=True, autoincrement=True), sa.Column("name", sa.Text))
    op.execute("INSERT INTO plan (name) VALUES ('free'), ('pro')")
