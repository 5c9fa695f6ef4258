"""What `leaseq.aio` speaks to the server with: by the names of the modules beside this folder."""
