import pandas as pd
from sqlalchemy import create_engine

pd.read_csv("teams.csv").to_sql("teams", create_engine("sqlite:///league.db"), index=False)
