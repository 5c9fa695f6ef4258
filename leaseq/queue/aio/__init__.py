"""The methods of `leaseq.aio.Queue`, made of those of `leaseq.Queue`: see docs/decisions/0028-asyncio.md."""
