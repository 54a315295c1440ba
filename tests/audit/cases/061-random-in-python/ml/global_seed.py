import random

import pandas as pd

random.seed(99)
people = pd.read_csv("people.csv")
chosen = random.sample(list(people["person_id"]), 200)
people[people["person_id"].isin(chosen)].to_csv("panel.csv", index=False)
