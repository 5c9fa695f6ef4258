"""An S3-compatible bucket, to which browsers send files, and from which they get them, by signed requests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, Self
from urllib.parse import parse_qs, urlsplit

import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from werkzeug.http import dump_options_header

from leaseq.webapp.files.keys import ANY_TYPE, SentFile, is_key
from leaseq.webapp.files.storage import PIECE, Storage, StoredFile, unavailable
from leaseq.webapp.origins import origin_of

_LINK_SECONDS = 60
_MISSING = ("404", "NoSuchKey", "NotFound")
# Nothing that is sent from a bucket, even a public one, is shown in place.
_HEADERS = {"Content-Type": ANY_TYPE, "Content-Disposition": "attachment"}


class Bucket(Storage):
    """A bucket, or the part of one whose keys begin with a prefix. The credentials are found as the AWS tools
    find them: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile, or the role of the machine."""

    def __init__(self, client: Any, bucket: str, prefix: str) -> None:
        self._client, self._bucket = client, bucket
        self._prefix = f"{prefix}/" if prefix else ""
        self.origin = origin_of(self._signed_form("any", 1, _LINK_SECONDS)["url"])

    @classmethod
    def of(cls, url: str) -> Self:
        """The bucket of a URL such as s3://bucket/prefix?endpoint=https://minio.example.org&region=eu-central-1.
        Raises ValueError with what is wrong."""
        parts, options = (
            urlsplit(url),
            {name: values[-1] for name, values in parse_qs(urlsplit(url).query).items()},
        )
        endpoint = options.pop("endpoint", None)
        region = options.pop("region", None)
        if not parts.netloc or options:
            raise ValueError("expected s3://BUCKET/PREFIX, with endpoint and region as its only parameters")
        settings = Config(
            signature_version="s3v4",
            connect_timeout=5,
            read_timeout=15,
            retries={"total_max_attempts": 2, "mode": "standard"},
            s3={"addressing_style": "path" if endpoint else "auto"},
            # Other stores than Amazon's do not know the newer checksums.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        )
        try:
            client = botocore.session.get_session().create_client(
                "s3",
                region_name=region or ("us-east-1" if endpoint else None),
                endpoint_url=endpoint,
                config=settings,
            )
            return cls(client, parts.netloc, parts.path.strip("/"))
        except (BotoCoreError, ValueError) as error:
            raise ValueError(str(error)) from None

    def upload_form(self, file: SentFile, seconds: int) -> tuple[str, dict[str, str]]:
        form = self._signed_form(file.key, file.size, seconds)
        return form["url"], form["fields"]

    def _signed_form(self, key: str, size: int, seconds: int) -> dict[str, Any]:
        """A form for exactly this key and size: the store refuses others."""
        fields = {**_HEADERS, "success_action_status": "201"}
        form: dict[str, Any] = self._client.generate_presigned_post(
            self._bucket,
            self._prefix + key,
            Fields=fields,
            Conditions=[
                *({name: value} for name, value in fields.items()),
                ["content-length-range", size, size],
            ],
            ExpiresIn=seconds,
        )
        return form

    def download_url(self, file: SentFile) -> str:
        url: str = self._client.generate_presigned_url(
            "get_object",
            Params={
                **self._place(file.key),
                "ResponseContentType": ANY_TYPE,
                "ResponseContentDisposition": dump_options_header("attachment", {"filename": file.name}),
            },
            ExpiresIn=_LINK_SECONDS,
        )
        return url

    def put(self, key: str, body: IO[bytes], size: int) -> bool:
        data = body.read(size + 1)
        if len(data) != size:
            return False
        with _as_problem():
            self._client.put_object(
                **self._place(key), Body=data, ContentType=ANY_TYPE, ContentDisposition="attachment"
            )
        return True

    def size_of(self, key: str) -> int | None:
        try:
            with _as_problem():
                return int(self._client.head_object(**self._place(key))["ContentLength"])
        except FileNotFoundError:
            return None

    def read(self, key: str) -> Iterator[bytes]:
        with _as_problem():
            yield from self._client.get_object(**self._place(key))["Body"].iter_chunks(PIECE)

    def stored(self, folder: str = "") -> Iterator[StoredFile]:
        beginning = self._prefix + (f"{folder}/" if folder else "")
        with _as_problem():
            for page in self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self._bucket, Prefix=beginning
            ):
                for entry in page.get("Contents", ()):
                    key = entry["Key"].removeprefix(self._prefix)
                    if is_key(key):
                        yield StoredFile(key, entry["Size"], entry["LastModified"])

    def delete(self, key: str) -> None:
        with _as_problem():
            self._client.delete_object(**self._place(key))

    def _place(self, key: str) -> dict[str, str]:
        return {"Bucket": self._bucket, "Key": self._prefix + key}


@contextmanager
def _as_problem() -> Iterator[None]:
    """Raise FileNotFoundError for a missing key, and a problem for all else."""
    try:
        yield
    except ClientError as error:
        if error.response.get("Error", {}).get("Code") in _MISSING:
            raise FileNotFoundError from None
        raise unavailable() from error
    except BotoCoreError as error:
        raise unavailable() from error
