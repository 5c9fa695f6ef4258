"""An S3 store on this machine, with one bucket."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import botocore.session
import pytest
from moto.server import ThreadedMotoServer


@contextmanager
def open_bucket(name: str) -> Iterator[str]:
    """Start a store with this bucket, set its keys in the environment, and yield its endpoint's URL."""
    store = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    store.start()
    host, port = store.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "key")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        session = botocore.session.get_session()
        client = session.create_client("s3", endpoint_url=endpoint, region_name="us-east-1")
        client.create_bucket(Bucket=name)
        yield endpoint
    store.stop()
