"""How `leaseq.aio` talks to the server: modules with the names of those in the parent folder."""
