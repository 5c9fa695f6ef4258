"""Finding items among those of a queue, by what pages and REST ask for, in bounded steps."""
