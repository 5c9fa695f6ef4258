"""The page of the policy's fields."""

from __future__ import annotations

from leaseq.cli.queues import flags_and_settings
from leaseq.policy import FIELDS, GROUPS
from leaseq.policy_fields import Field

PAGE = """# Policy

How a queue hands out its items. Each field has one name in Python (`queue.configure`) and REST
(`PUT /queues/{{q}}`), one option of `leaseq queue create` and `leaseq queue set`, and one place on the
settings page. Fields that an update does not name keep their value. Where a table has *none*, that is `None`
in Python, `null` in REST, `none` on the command line, and an empty field on the settings page; of `alerts`,
it is an empty list, and `''` on the command line. The parts of a form are in
[forms.md](forms.md). In Python `alerts` is a tuple of texts, `bands` a tuple of two
numbers, and `form` a dict; a policy that was read also has its `version`. This page is made from the code.

{groups}
"""


def page() -> str:
    return PAGE.format(groups="\n\n".join(map(_group, GROUPS)))


def _group(group: str) -> str:
    rows = [_row(field) for field in FIELDS.values() if field.group == group]
    head = "| field | option | on the page | what | takes | default |\n|---|---|---|---|---|---|"
    return "\n".join([f"## {GROUPS[group]}", "", head, *rows])


def _row(field: Field) -> str:
    flags, settings = flags_and_settings(field)
    option = ", ".join(f"`{flag} {settings.get('metavar', '')}".strip() + "`" for flag in flags.split("/"))
    limits = [field.kind.limits, f"none: {field.none}" if field.none else ""]
    cells = (
        f"`{field.name}`",
        option,
        field.label,
        field.help,
        "; ".join(filter(None, limits)),
        _default(field),
    )
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def _default(field: Field) -> str:
    match field.default:
        case None | ():
            return "none"
        case bool():
            return "yes" if field.default else "no"
        case tuple():
            return " ".join(map(str, field.default))
    return str(field.default)
