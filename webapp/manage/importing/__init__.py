"""Imports of files: the mapping of columns, remarks on rows, the pages, and a new queue from a file."""
