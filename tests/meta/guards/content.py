"""Content from people and programs is shown and exported as text, never run."""

from tests.meta.guards.guard import Guard, guard, row

GUARDS: tuple[Guard, ...] = (
    *row(
        "payloads and markdown inert (script, onerror, javascript:, SVG)",
        guard(
            "markdown-clean",
            "webapp/rendering/filters.py",
            "return nh3.clean(_markdown.render(text), tags=_TAGS)",
            instead="return text",
        ),
        guard(
            "link-schemes",
            "webapp/rendering/media.py",
            'return value.strip() if parts.scheme in ("http", "https") and parts.netloc else None',
            instead="return value.strip() if parts.scheme else None",
        ),
        guard(
            "text-escaped",
            "webapp/templates/shared/payload.html",
            '{% if part.kind == "text" %}{% set text = part.value if part.value is string else part.value|pretty %}<p class="text{% if text|length <= 140 %} short{% elif text|length <= 600 %} medium{% endif %}" dir="auto">{{ text|with_returns }}</p>',
            instead='{% if part.kind == "text" %}<p class="text" dir="auto">{{ part.value|safe }}</p>',
        ),
    ),
    *row(
        "files are named, sent and seen only by their own people, and never shown in place",
        guard(
            "file-own",
            "webapp/services/files.py",
            'what = None if file and (is_own or file in (earlier or ())) else "unknown"',
            instead='what = None if file else "unknown"',
        ),
        guard(
            "file-arrived",
            "webapp/services/files.py",
            "if file and not what and _files().storage.size_of(file.key) != file.size:",
            instead="if not file and not what:",
        ),
        guard(
            "file-readers",
            "webapp/services/files.py",
            "if manages or answer.person == name:",
            instead="if manages or name:",
        ),
        guard(
            "file-drafts",
            "webapp/services/files.py",
            "if file.key == key and _files().keys.is_from(Place(queue.name, id, question, name), file):",
            instead="if file.key == key and question:",
        ),
        guard(
            "file-ticket",
            "webapp/files/keys.py",
            "return int(size) if (signed_key, signed_person) == (key, person) else None",
            instead="return int(size) if signed_key or signed_person else None",
        ),
        guard(
            "file-plain",
            "webapp/services/files.py",
            'download(files.storage.read(file.key), ANY_TYPE, "file")',
            instead='download(files.storage.read(file.key), file.type or ANY_TYPE, "file")',
        ),
    ),
    *row(
        "HTML mail loads nothing, leads nowhere and is bounded",
        guard(
            "mail-clean",
            "webapp/rendering/mail.py",
            "    return nh3.clean(\n        html,",
            instead="    return html or nh3.clean(\n        html,",
        ),
        guard(
            "mail-pictures",
            "webapp/rendering/mail.py",
            "return value if INLINE_PICTURE.fullmatch(value) else None",
            instead="return value",
        ),
        guard(
            "mail-links",
            "webapp/rendering/mail.py",
            'not value.lower().startswith(("http://", "https://", "mailto:"))',
            instead="False",
        ),
        guard("mail-nesting", "webapp/rendering/mail.py", "or _is_excessive(value)", instead="or False"),
        guard(
            "mail-sandbox",
            "webapp/templates/shared/payload.html",
            'sandbox=""',
            instead='sandbox="allow-scripts allow-top-navigation"',
        ),
    ),
    *row(
        "comparisons of texts are bounded",
        guard(
            "difference-bounded",
            "webapp/rendering/texts.py",
            "if self._steps > MAX_STEPS:",
            instead="if False:",
        ),
    ),
    *row(
        "rendering of Markdown is bounded, and cached",
        guard(
            "markdown-length",
            "webapp/rendering/filters.py",
            'html = rendered(data[:MAX_MARKDOWN].decode("utf-8", "ignore"))',
            instead='html = rendered(data.decode("utf-8", "ignore"))',
        ),
        guard("markdown-once", "webapp/rendering/filters.py", "@lru_cache(maxsize=64)"),
    ),
    *row(
        "images only of allowed origins",
        guard(
            "media-origins",
            "webapp/rendering/media.py",
            "return link if origin_of(link) in state().settings.media_origins else None",
            instead="return link",
        ),
        guard(
            "no-markdown-images",
            "webapp/rendering/filters.py",
            '_TAGS = nh3.ALLOWED_TAGS - {"img"}',
            instead="_TAGS = nh3.ALLOWED_TAGS",
        ),
        guard(
            "data-images",
            "webapp/rendering/media.py",
            'INLINE_PICTURE = re.compile(r"data:image/(png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/]+=*")',
            instead='INLINE_PICTURE = re.compile(r"data:image/([a-z+]+);base64,[A-Za-z0-9+/]+=*")',
        ),
        guard(
            "csp-media",
            "webapp/security/headers.py",
            'media = " ".join(("\'self\'", *state().settings.media_origins))',
            instead='media = "*"',
        ),
        guard("media-origin-setting", "webapp/settings.py", "origin_of(origin) != origin", instead="False"),
    ),
    *row(
        "CSV cells neutralised",
        guard(
            "cell-formula",
            "leaseq/transfer/writing.py",
            "_FORMULA.match(text) and not _JSON_NUMBER.fullmatch(text)",
            instead="False",
        ),
    ),
)
