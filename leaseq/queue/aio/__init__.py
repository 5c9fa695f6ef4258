"""The methods of `leaseq.aio.Queue`, made from `leaseq.Queue`'s: see docs/decisions/0028-asyncio.md."""
