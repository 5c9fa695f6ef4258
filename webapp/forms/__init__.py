"""Forms: from a queue's JSON Schema to a page's fields, and from the input to a result."""

from leaseq.webapp.forms.choices import Choice
from leaseq.webapp.forms.fields import Field, Fieldset, Group, fields_of, layout_of, titles_of
from leaseq.webapp.forms.parsing import Inputs, draft_of, errors_at, inputs_of, read_inputs, read_result

__all__ = [
    "Choice",
    "Field",
    "Fieldset",
    "Group",
    "Inputs",
    "draft_of",
    "errors_at",
    "fields_of",
    "inputs_of",
    "layout_of",
    "read_inputs",
    "read_result",
    "titles_of",
]
