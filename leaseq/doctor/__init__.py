"""`leaseq doctor`: finds server settings that can lose data or let strangers in, and how to fix them."""

from leaseq.doctor.checks import Check, Finding, Group, Level
from leaseq.doctor.examine import Report, examine
from leaseq.doctor.proxies import note_undeclared_proxy

__all__ = ["Check", "Finding", "Group", "Level", "Report", "examine", "note_undeclared_proxy"]
