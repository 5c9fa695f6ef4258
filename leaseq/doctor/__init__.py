"""`leaseq doctor`: what at a given server would lose data or let someone in, each with its cure."""

from leaseq.doctor.checks import Check, Finding, Group, Level
from leaseq.doctor.examine import CHECKS, Report, examine
from leaseq.doctor.proxies import note_undeclared_proxy

__all__ = ["CHECKS", "Check", "Finding", "Group", "Level", "Report", "examine", "note_undeclared_proxy"]
