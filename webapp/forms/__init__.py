"""Forms: from a queue's JSON Schema to a page's fields, and from the input to a result."""
