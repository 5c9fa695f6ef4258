"""How payloads, answers and times are shown."""
