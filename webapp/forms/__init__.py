"""Forms: from a queue's JSON Schema to a page's fields, and from the input to a result."""

from leaseq.webapp.forms.choices import Choice
from leaseq.webapp.forms.fields import Field, Fieldset, Group, fields_of, layout_of, titles_of
from leaseq.webapp.forms.parsing import Typed, draft_of, errors_at, read_result, read_typed, typed_of

__all__ = [
    "Choice",
    "Field",
    "Fieldset",
    "Group",
    "Typed",
    "draft_of",
    "errors_at",
    "fields_of",
    "layout_of",
    "read_result",
    "read_typed",
    "titles_of",
    "typed_of",
]
