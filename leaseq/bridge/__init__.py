"""The bridge: a SQL database holds the backlog and the answers, and leaseq hands out the work.

Needs the extra ``leaseq[bridge]``. docs/bridge.md describes how the pieces fit together.
"""
