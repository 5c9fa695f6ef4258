"""What long jobs of managers keep: imports, simulated people, and the values that an act on many replaced."""
