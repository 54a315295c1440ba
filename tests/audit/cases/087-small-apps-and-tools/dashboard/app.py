from datetime import date

import pandas as pd
import streamlit as st
from sqlalchemy import create_engine

engine = create_engine("sqlite:///notes.db")
note = st.text_input("note")
if st.button("save"):
    pd.DataFrame([{"day": date.today(), "note": note}]).to_sql("notes", engine, if_exists="append", index=False)
st.dataframe(pd.read_sql("SELECT * FROM notes WHERE day >= date('now', '-7 day')", engine))
