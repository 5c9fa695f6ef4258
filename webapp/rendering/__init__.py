"""Rendering of payloads, answers and times."""
