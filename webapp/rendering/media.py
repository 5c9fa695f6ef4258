"""Pictures, sound, video and PDF of payloads, which pages load from named origins only."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from flask_babel import gettext as _

from leaseq import Json
from leaseq.webapp.context import person, state
from leaseq.webapp.origins import origin_of
from leaseq.webapp.serving.time_slices import in_slices
from leaseq.webapp.store.accounts.model import at_least


def web_link(value: object) -> str | None:
    """The value if it is an http or https URL, which is safe to link to."""
    if not isinstance(value, str):
        return None
    try:
        parts = urlsplit(value.strip())
    except ValueError:
        return None
    return value.strip() if parts.scheme in ("http", "https") and parts.netloc else None


def media_link(value: object) -> str | None:
    """The URL if pages may load pictures and sound from its origin."""
    link = web_link(value)
    if link is None:
        return None
    return link if origin_of(link) in state().settings.media_origins else None


INLINE_PICTURE = re.compile(r"data:image/(png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/]+=*")


def picture_link(value: object) -> str | None:
    """Like ``media_link``, but also accepts small pictures in data: URLs."""
    if isinstance(value, str) and INLINE_PICTURE.fullmatch(value):
        return value
    return media_link(value)


@dataclass(frozen=True, slots=True)
class Picture:
    address: str
    caption: str


def pictures_of(value: Json) -> list[Picture] | None:
    """A list of addresses, or of objects with an address and a caption; None if this is no such list."""
    entries = value if isinstance(value, list) else [value]
    pictures = [picture for picture in map(_picture, in_slices(entries)) if picture is not None]
    return pictures if pictures and len(pictures) == len(entries) else None


def _picture(entry: Json) -> Picture | None:
    members = entry if isinstance(entry, dict) else {"url": entry}
    address = next((members[name] for name in ("url", "src", "href", "image") if members.get(name)), None)
    caption = next((members[name] for name in ("caption", "alt", "title", "label") if members.get(name)), "")
    return Picture(address, str(caption)) if isinstance(address, str) else None


def media_refusal(value: str) -> str:
    """Why a page does not load this picture, sound, video or PDF; to managers with the setting for it."""
    link = web_link(value)
    text = _("Not shown here.")
    if at_least(person().role, "manager"):
        origin = (link and origin_of(link)) or link
        text = (
            _("Not shown here: the setting LEASEQ_MEDIA_ORIGINS does not name %(origin)s.", origin=origin)
            if link
            else _("Not shown here: this is no address that begins with https://.")
        )
    return str(text)


def loading_failure() -> str:
    """What the page says of a picture from an allowed origin that the browser could not load."""
    text = _("The picture could not be loaded.")
    if at_least(person().role, "manager"):
        text = _(
            "The picture could not be loaded: its address gives none, or leads on to an origin that the"
            " setting LEASEQ_MEDIA_ORIGINS does not name."
        )
    return str(text)
