def save(df, table):
    writer = df.write.format("delta").mode("append")
    writer.mode("overwrite").saveAsTable(table)


def save_parts(frames, table):
    for i, frame in enumerate(frames):
        mode = "overwrite" if i == 0 else "append"
        frame.write.mode(mode).saveAsTable(table)


def save_parts_badly(frames, table):
    for frame in frames:
        frame.write.mode("append").saveAsTable(table)
