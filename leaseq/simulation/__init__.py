"""People who are made up and work through a queue, for `leaseq simulate`."""
