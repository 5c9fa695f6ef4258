"""The description of REST."""
