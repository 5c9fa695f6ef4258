"""Search among a queue's items, for pages and REST, in bounded steps."""
