"""A manager's acts on many items: what there is, its confirmation, progress, export and undo."""
