"""``python -m leaseq``: the same as the ``leaseq`` command."""

from leaseq.cli import main

main(prog_name="leaseq")
