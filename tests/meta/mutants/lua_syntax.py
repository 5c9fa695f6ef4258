"""Lua 5.1 as far as mutants need it: statements and expressions, each with its place in the text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.meta.mutants.lua_tokens import WORDS, LuaSyntaxError, Token, tokens

# Left and right binding power, as in the reference implementation.
_POWER = {
    **dict.fromkeys(["or"], (1, 1)),
    **dict.fromkeys(["and"], (2, 2)),
    **dict.fromkeys(["<", ">", "<=", ">=", "~=", "=="], (3, 3)),
    **dict.fromkeys([".."], (5, 4)),
    **dict.fromkeys(["+", "-"], (6, 6)),
    **dict.fromkeys(["*", "/", "%"], (7, 7)),
    **dict.fromkeys(["^"], (10, 9)),
}
_UNARY_POWER = 8


@dataclass(slots=True)
class Node:
    """``kind`` says what the parts are.

    Statements: call (the call), set (targets and values), local (values), if (conditions and blocks),
    while and repeat (condition, block), for (values, block), do, function (block), return (values), break.
    Expressions: binary (``text`` is the operator; left, right), unary, name, string, number, constant,
    function (block), table (entries), call (what is called, then arguments), index, parentheses.
    """

    kind: str
    start: int
    end: int
    parts: list[Node] = field(default_factory=list)
    text: str = ""
    mark: int = 0  # where the operator of a binary expression starts

    def walk(self) -> Iterator[Node]:
        yield self
        for part in self.parts:
            yield from part.walk()


def parse(text: str) -> Node:
    """The block that a file is."""
    parser = _Parser(text)
    block = parser.block()
    parser.take("")
    return block


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokens(text)
        self._at = 0

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    @property
    def _last_end(self) -> int:
        return self._tokens[self._at - 1].end

    def _is(self, *texts: str) -> bool:
        return self._next.kind != "string" and self._next.text in texts

    def take(self, *texts: str) -> Token:
        token = self._next
        if texts and not self._is(*texts):
            line = self._text.count("\n", 0, token.start) + 1
            raise LuaSyntaxError(f"line {line}: {texts[0] or 'the end'!r} expected near {token.text!r}")
        self._at += 1
        return token

    def _takes(self, text: str) -> bool:
        if not self._is(text):
            return False
        self._at += 1
        return True

    def block(self) -> Node:
        start, statements = self._next.start, []
        while not self._is("", "end", "else", "elseif", "until"):
            statements.append(self._statement())
            self._takes(";")
        return Node("block", start, statements[-1].end if statements else start, statements)

    def _statement(self) -> Node:
        start = self._next.start
        kind, parts = self._statement_parts()
        return Node(kind, start, self._last_end, parts)

    def _statement_parts(self) -> tuple[str, list[Node]]:
        compound = {
            "if": self._if,
            "while": self._while,
            "repeat": self._repeat,
            "for": self._for,
            "do": self._do,
            "function": self._named_function,
            "local": self._local,
            "return": self._return,
        }
        if self._takes("break"):
            return "break", []
        for word, rest in compound.items():
            if self._takes(word):
                return rest()
        return self._call_or_set()

    def _if(self) -> tuple[str, list[Node]]:
        parts = [self._expression(), self._then()]
        while self._takes("elseif"):
            parts += [self._expression(), self._then()]
        if self._takes("else"):
            parts.append(self.block())
        self.take("end")
        return "if", parts

    def _then(self) -> Node:
        self.take("then")
        return self.block()

    def _while(self) -> tuple[str, list[Node]]:
        condition = self._expression()
        return "while", [condition, *self._do()[1]]

    def _repeat(self) -> tuple[str, list[Node]]:
        block = self.block()
        self.take("until")
        return "repeat", [self._expression(), block]

    def _for(self) -> tuple[str, list[Node]]:
        self._names()
        self.take("=", "in")
        values = self._expressions()
        return "for", [*values, *self._do()[1]]

    def _do(self) -> tuple[str, list[Node]]:
        self._takes("do")
        block = self.block()
        self.take("end")
        return "do", [block]

    def _named_function(self) -> tuple[str, list[Node]]:
        self.take()
        while self._is(".", ":"):
            self.take()
            self.take()
        return "function", [self._body()]

    def _local(self) -> tuple[str, list[Node]]:
        if self._takes("function"):
            self.take()
            return "function", [self._body()]
        self._names()
        return "local", self._expressions() if self._takes("=") else []

    def _names(self) -> None:
        self.take()
        while self._takes(","):
            self.take()

    def _return(self) -> tuple[str, list[Node]]:
        if self._is("", "end", "else", "elseif", "until", ";"):
            return "return", []
        return "return", self._expressions()

    def _call_or_set(self) -> tuple[str, list[Node]]:
        first = self._suffixed()
        if first.kind == "call":
            return "call", [first]
        targets = [first]
        while self._takes(","):
            targets.append(self._suffixed())
        self.take("=")
        return "set", [*targets, *self._expressions()]

    def _body(self) -> Node:
        self.take("(")
        while not self._takes(")"):
            self.take()
        block = self.block()
        self.take("end")
        return block

    def _expressions(self) -> list[Node]:
        found = [self._expression()]
        while self._takes(","):
            found.append(self._expression())
        return found

    def _expression(self, power: int = 0) -> Node:
        start = self._next.start
        if self._is("not", "-", "#"):
            word = self.take().text
            operand = self._expression(_UNARY_POWER)
            left = Node("unary", start, operand.end, [operand], word)
        else:
            left = self._simple()
        while self._next.kind != "string" and self._next.text in _POWER:
            binds, right_power = _POWER[self._next.text]
            if binds <= power:
                break
            operator = self.take()
            right = self._expression(right_power)
            left = Node("binary", start, right.end, [left, right], operator.text, operator.start)
        return left

    def _simple(self) -> Node:
        token = self._next
        if token.kind in {"string", "number"}:
            self.take()
            return Node(token.kind, token.start, token.end, text=token.text)
        if self._is("nil", "true", "false", "..."):
            self.take()
            return Node("constant", token.start, token.end, text=token.text)
        if self._is("{"):
            return self._table()
        if self._takes("function"):
            body = self._body()
            return Node("function", token.start, self._last_end, [body])
        return self._suffixed()

    def _table(self) -> Node:
        start, entries = self.take("{").start, []
        while not self._is("}"):
            entries.append(self._entry())
            if not (self._takes(",") or self._takes(";")):
                break
        self.take("}")
        return Node("table", start, self._last_end, entries)

    def _entry(self) -> Node:
        start = self._next.start
        if self._takes("["):
            self._expression()
            self.take("]")
            self.take("=")
        elif self._next.kind == "name" and self._tokens[self._at + 1].text == "=":
            self._at += 2
        value = self._expression()
        kind = "entry" if value.start == start else "named entry"
        return Node(kind, start, value.end, [value])

    def _suffixed(self) -> Node:
        start = self._next.start
        if self._takes("("):
            inner = self._expression()
            self.take(")")
            found = Node("parentheses", start, self._last_end, [inner])
        else:
            token = self.take()
            if token.kind != "name" or token.text in WORDS:
                line = self._text.count("\n", 0, token.start) + 1
                raise LuaSyntaxError(f"line {line}: unexpected {token.text!r}")
            found = Node("name", start, token.end, text=token.text)
        while True:
            if self._takes("."):
                self.take()
                found = Node("index", start, self._last_end, [found])
            elif self._takes("["):
                inner = self._expression()
                self.take("]")
                found = Node("index", start, self._last_end, [found, inner])
            elif self._is("(", "{", ":") or self._next.kind == "string":
                found = self._call(found)
            else:
                return found

    def _call(self, called: Node) -> Node:
        if self._takes(":"):
            self.take()
        if self._next.kind == "string" or self._is("{"):
            arguments = [self._simple()]
        else:
            self.take("(")
            arguments = [] if self._is(")") else self._expressions()
            self.take(")")
        return Node("call", called.start, self._last_end, [called, *arguments])
