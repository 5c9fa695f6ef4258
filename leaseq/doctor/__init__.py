"""`leaseq doctor`: find what would lose data or let strangers in at a server, each with its cure."""

from leaseq.doctor.checks import Check, Finding, Group, Level
from leaseq.doctor.examine import CHECKS, Report, examine
from leaseq.doctor.proxies import note_undeclared_proxy

__all__ = ["CHECKS", "Check", "Finding", "Group", "Level", "Report", "examine", "note_undeclared_proxy"]
