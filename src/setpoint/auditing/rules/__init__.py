"""One file a rule: its words, and the judgement that finds it."""
