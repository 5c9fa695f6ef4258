"""The files that people send as answers: their keys, and where they are kept."""
