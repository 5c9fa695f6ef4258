"""From a queue's JSON Schema to the fields of a page, and from what was typed to a result."""

from webapp.forms.fields import Choice, Field, fields_of
from webapp.forms.reading import Typed, draft_of, read_result, typed_in, typed_of

__all__ = ["Choice", "Field", "Typed", "draft_of", "fields_of", "read_result", "typed_in", "typed_of"]
