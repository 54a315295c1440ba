import sqlite3
from datetime import datetime

from discord.ext import commands

bot = commands.Bot(command_prefix="!")
db = sqlite3.connect("bot.db")


@bot.command()
async def remember(ctx, *, text):
    db.execute("INSERT INTO memo (author, body, at) VALUES (?, ?, ?)", (ctx.author.id, text, datetime.utcnow()))
    db.commit()
    await ctx.send("stored")
