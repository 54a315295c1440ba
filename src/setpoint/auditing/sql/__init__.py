"""SQL text → writes, hidden inputs and reads."""
