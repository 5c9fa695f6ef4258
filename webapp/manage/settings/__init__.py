"""The pages of a queue's settings: its sections, its form, and the access to it."""
