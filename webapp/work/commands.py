"""The command menu: pages, queues, acts, people and items that match what somebody types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from flask import render_template, request, url_for
from flask_babel import gettext as _

import leaseq
from leaseq import Filter, validation
from leaseq.webapp.context import lease_queue, person, queue_names, queue_titles, state
from leaseq.webapp.item_title import item_title
from leaseq.webapp.search.criteria import ANY, search_among
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.serving.time_slices import in_slices
from leaseq.webapp.store.accounts.model import at_least
from leaseq.webapp.store.queue_access import sees
from leaseq.webapp.work.blueprint import bp

MAX_COMMANDS = 40
MAX_PEOPLE = 8
MAX_ITEMS = 8
MAX_QUEUES = 20
"""Queues in which one request looks for an item by its id, or for the items that a worker holds."""
COMPARED = 300
"""Items that one request compares with the words, in all queues together: about 30 ms."""
_MIN_LETTERS = 2  # from which on people and items are searched


@dataclass(frozen=True, slots=True)
class Command:
    """A link, or a button that posts; and what it is about, shown next to it."""

    label: str
    url: str
    about: str = ""
    posts: bool = False

    def matches(self, words: list[str]) -> bool:
        text = f"{self.label} {self.about}".casefold()
        return all(word in text for word in words)

    def words_in_label(self, words: list[str]) -> int:
        """How many of the words name the command itself: *pause* the act before a queue of that name."""
        return sum(word in self.label.casefold() for word in words)


@dataclass(frozen=True, slots=True)
class _Queues:
    """The queues that the person may work on: their titles, the page's own first."""

    titles: Mapping[str, str]
    managed: frozenset[str]


@bp.get("/commands")
@needs("worker")
def commands() -> str:
    """The commands that match the words of ``q``, as a fragment; without words, those of the page's queue,
    the pages and the queues."""
    text = request.args.get("q", "").strip()[: validation.MAX_ID]
    words, queues = text.casefold().split(), _queues(request.args.get("queue", ""))
    ranked = sorted(_matching(words, queues), key=lambda command: -command.words_in_label(words))
    found = ranked[:MAX_COMMANDS]
    if len(text) >= _MIN_LETTERS:
        found += islice(_people(words), MAX_PEOPLE)
        found += islice(_items(text, queues), MAX_ITEMS)
        found += _search(text, queues)
        found.sort(key=lambda command: command.label.casefold() != text.casefold())  # an exact name is first
    return render_template("work/commands.html", commands=found)


def _queues(current: str) -> _Queues:
    titles = queue_titles(queue_names())
    ordered = sorted(titles, key=lambda name: (name != current, titles[name].casefold()))
    managed = frozenset(name for name in ordered if state().access.get(name).lets_manage(person()))
    return _Queues({name: titles[name] for name in ordered}, managed)


def _matching(words: list[str], queues: _Queues) -> Iterator[Command]:
    first, *others = queues.titles or [""]
    is_current = first != "" and first == request.args.get("queue")
    names = [first, *others] if first else []
    if is_current:
        yield from _of_queue(first, queues, words)
        names = others
    yield from (command for command in _pages() if command.matches(words))
    for name in in_slices(names):
        yield from _of_queue(name, queues, words)


def _pages() -> Iterator[Command]:
    yield Command(_("All queues"), url_for("work.home"))
    yield Command(_("My day"), url_for("work.day"))
    yield Command(_("Take a break"), url_for("work.break_page"))
    yield Command(_("Your account"), url_for("auth.account"))
    yield Command(_("Help"), url_for("guides.index"))
    if at_least(person().role, "manager"):
        yield Command(_("Manage"), url_for("manage.overview"))
        if state().access.lets_manage_all(person()):
            yield Command(_("Webhooks"), url_for("webhooks.index"))
        yield Command(_("People"), url_for("people.index"))
        yield Command(_("Figures"), url_for("people.figures"), _("People"))
    if at_least(person().role, "admin"):
        yield Command(_("Audit log"), url_for("people.log"))


def _of_queue(name: str, queues: _Queues, words: list[str]) -> Iterator[Command]:
    title = queues.titles[name]
    commands = [Command(_("Work"), url_for("work.page", q=name), title)]
    if name in queues.managed:
        pages = {
            "manage.one_queue": _("Dashboard"),
            "manage.items": _("Items"),
            "manage.answers": _("Answers"),
            "manage.settings": _("Settings"),
            "manage.announcement": _("Announce"),
            "manage.import_page": _("Import"),
            "manage.export": _("Export"),
            "manage.access": _("Access"),
            "manage.try_out": _("Try it out"),
        }
        commands += [Command(label, url_for(endpoint, q=name), title) for endpoint, label in pages.items()]
    yield from (command for command in commands if command.matches(words))
    if name in queues.managed:
        yield from _acts(name, title, words)


def _acts(name: str, title: str, words: list[str]) -> Iterator[Command]:
    """Pause or resume, whichever the queue's state allows. The state is read only if the words ask for it."""
    pause = Command(_("Pause"), url_for("manage.pause", q=name), title, posts=True)
    resume = Command(_("Resume"), url_for("manage.resume", q=name), title, posts=True)
    if not words or not (pause.matches(words) or resume.matches(words)):
        return
    stats, _errors = leaseq.read_queues(state().client, lambda queue: queue.stats(), [name])
    if name in stats:
        act = resume if stats[name].paused is not None else pause
        if act.matches(words):
            yield act


def _people(words: list[str]) -> Iterator[Command]:
    """The people whom a manager sees."""
    viewer = person()
    if not at_least(viewer.role, "manager"):
        return
    access = [state().access.get(name) for name in queue_names("manage")]
    for account in in_slices(state().accounts.people()):
        about = " ".join(filter(None, (account.name if account.shown_name else "", account.team)))
        url = url_for("people.detail", name=account.name)
        command = Command(account.label, url, about or _("Person"))
        if command.matches(words) and sees(viewer, account, access):
            yield command


def _items(text: str, queues: _Queues) -> Iterator[Command]:
    """Items with this id, or whose text has the words: for managers those of the queues that they manage, the
    newest of each; for others those that they hold."""
    if not queues.managed:
        yield from _held(text.casefold().split(), queues)
        return
    managed = [name for name in queues.titles if name in queues.managed]
    found: set[tuple[str, str]] = set()
    for search in (_by_id, _by_words):
        for queue, item in search(text, managed):
            if (queue, item.id) not in found:
                found.add((queue, item.id))
                url = url_for("manage.item", q=queue, id=item.id)
                yield Command(item_title(item.payload, item.id), url, queues.titles[queue])


def _search(text: str, queues: _Queues) -> Iterator[Command]:
    """The search among all items of the page's queue."""
    queue = request.args.get("queue", "")
    if queue in queues.managed:
        label = _("Search all items for “%(text)s”", text=text)
        yield Command(label, url_for("manage.items", q=queue, find=text), queues.titles[queue])


def _by_id(text: str, names: list[str]) -> Iterator[tuple[str, leaseq.Item]]:
    for name in in_slices(names[:MAX_QUEUES]):
        try:
            yield name, lease_queue(name).get(text)
        except leaseq.LeaseqError:
            continue


def _by_words(text: str, names: list[str]) -> Iterator[tuple[str, leaseq.Item]]:
    remaining = COMPARED
    for name in in_slices(names):
        if remaining <= 0:
            return
        queue = lease_queue(name)
        try:
            page = search_among(text, ANY, Filter(), queue.policy.form).page(
                queue, limit=MAX_ITEMS, look=remaining
            )
        except leaseq.LeaseqError:
            continue
        remaining -= page.scanned
        for item in page.items:
            yield name, item


def _held(words: list[str], queues: _Queues) -> Iterator[Command]:
    name = person().name
    leases, _errors = leaseq.read_queues(
        state().client, lambda queue: queue.mine(name), list(queues.titles)[:MAX_QUEUES]
    )
    for queue, held in leases.items():
        for lease in held:
            title = item_title(lease.payload, lease.id)
            command = Command(title, url_for("work.page", q=queue, item=lease.id), queues.titles[queue])
            if command.matches(words) or lease.id.casefold() == " ".join(words):
                yield command
