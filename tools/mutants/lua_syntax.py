"""A parser of Lua 5.1, as far as mutants need it: statements and expressions with their positions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tools.mutants.lua_tokens import WORDS, LuaSyntaxError, Token, tokens

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
    """``kind`` determines what the parts are.

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
    """Parse a file into its block."""
    parser = _Parser(text)
    block = parser.block()
    parser.take("")
    return block


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokens(text)
        self._position = 0

    @property
    def _next_token(self) -> Token:
        return self._tokens[self._position]

    @property
    def _last_end(self) -> int:
        return self._tokens[self._position - 1].end

    def _next_is(self, *texts: str) -> bool:
        return self._next_token.kind != "string" and self._next_token.text in texts

    def take(self, *texts: str) -> Token:
        token = self._next_token
        if texts and not self._next_is(*texts):
            line = self._text.count("\n", 0, token.start) + 1
            raise LuaSyntaxError(f"line {line}: {texts[0] or 'the end'!r} expected near {token.text!r}")
        self._position += 1
        return token

    def _take_if(self, text: str) -> bool:
        if not self._next_is(text):
            return False
        self._position += 1
        return True

    def block(self) -> Node:
        start, statements = self._next_token.start, []
        while not self._next_is("", "end", "else", "elseif", "until"):
            statements.append(self._statement())
            self._take_if(";")
        return Node("block", start, statements[-1].end if statements else start, statements)

    def _statement(self) -> Node:
        start = self._next_token.start
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
        if self._take_if("break"):
            return "break", []
        for word, parse_rest in compound.items():
            if self._take_if(word):
                return parse_rest()
        return self._call_or_set()

    def _if(self) -> tuple[str, list[Node]]:
        parts = [self._expression(), self._then()]
        while self._take_if("elseif"):
            parts += [self._expression(), self._then()]
        if self._take_if("else"):
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
        self._skip_names()
        self.take("=", "in")
        values = self._expressions()
        return "for", [*values, *self._do()[1]]

    def _do(self) -> tuple[str, list[Node]]:
        self._take_if("do")
        block = self.block()
        self.take("end")
        return "do", [block]

    def _named_function(self) -> tuple[str, list[Node]]:
        self.take()
        while self._next_is(".", ":"):
            self.take()
            self.take()
        return "function", [self._body()]

    def _local(self) -> tuple[str, list[Node]]:
        if self._take_if("function"):
            self.take()
            return "function", [self._body()]
        self._skip_names()
        return "local", self._expressions() if self._take_if("=") else []

    def _skip_names(self) -> None:
        self.take()
        while self._take_if(","):
            self.take()

    def _return(self) -> tuple[str, list[Node]]:
        if self._next_is("", "end", "else", "elseif", "until", ";"):
            return "return", []
        return "return", self._expressions()

    def _call_or_set(self) -> tuple[str, list[Node]]:
        target = self._suffixed_expression()
        if target.kind == "call":
            return "call", [target]
        targets = [target]
        while self._take_if(","):
            targets.append(self._suffixed_expression())
        self.take("=")
        return "set", [*targets, *self._expressions()]

    def _body(self) -> Node:
        self.take("(")
        while not self._take_if(")"):
            self.take()
        block = self.block()
        self.take("end")
        return block

    def _expressions(self) -> list[Node]:
        expressions = [self._expression()]
        while self._take_if(","):
            expressions.append(self._expression())
        return expressions

    def _expression(self, power: int = 0) -> Node:
        start = self._next_token.start
        if self._next_is("not", "-", "#"):
            word = self.take().text
            operand = self._expression(_UNARY_POWER)
            left = Node("unary", start, operand.end, [operand], word)
        else:
            left = self._simple_expression()
        while self._next_token.kind != "string" and self._next_token.text in _POWER:
            left_power, right_power = _POWER[self._next_token.text]
            if left_power <= power:
                break
            operator = self.take()
            right = self._expression(right_power)
            left = Node("binary", start, right.end, [left, right], operator.text, operator.start)
        return left

    def _simple_expression(self) -> Node:
        token = self._next_token
        if token.kind in {"string", "number"}:
            self.take()
            return Node(token.kind, token.start, token.end, text=token.text)
        if self._next_is("nil", "true", "false", "..."):
            self.take()
            return Node("constant", token.start, token.end, text=token.text)
        if self._next_is("{"):
            return self._table()
        if self._take_if("function"):
            body = self._body()
            return Node("function", token.start, self._last_end, [body])
        return self._suffixed_expression()

    def _table(self) -> Node:
        start, entries = self.take("{").start, []
        while not self._next_is("}"):
            entries.append(self._entry())
            if not (self._take_if(",") or self._take_if(";")):
                break
        self.take("}")
        return Node("table", start, self._last_end, entries)

    def _entry(self) -> Node:
        start = self._next_token.start
        if self._take_if("["):
            self._expression()
            self.take("]")
            self.take("=")
        elif self._next_token.kind == "name" and self._tokens[self._position + 1].text == "=":
            self._position += 2
        value = self._expression()
        kind = "entry" if value.start == start else "named entry"
        return Node(kind, start, value.end, [value])

    def _suffixed_expression(self) -> Node:
        start = self._next_token.start
        if self._take_if("("):
            inner = self._expression()
            self.take(")")
            node = Node("parentheses", start, self._last_end, [inner])
        else:
            token = self.take()
            if token.kind != "name" or token.text in WORDS:
                line = self._text.count("\n", 0, token.start) + 1
                raise LuaSyntaxError(f"line {line}: unexpected {token.text!r}")
            node = Node("name", start, token.end, text=token.text)
        while True:
            if self._take_if("."):
                self.take()
                node = Node("index", start, self._last_end, [node])
            elif self._take_if("["):
                inner = self._expression()
                self.take("]")
                node = Node("index", start, self._last_end, [node, inner])
            elif self._next_is("(", "{", ":") or self._next_token.kind == "string":
                node = self._call(node)
            else:
                return node

    def _call(self, function: Node) -> Node:
        if self._take_if(":"):
            self.take()
        if self._next_token.kind == "string" or self._next_is("{"):
            arguments = [self._simple_expression()]
        else:
            self.take("(")
            arguments = [] if self._next_is(")") else self._expressions()
            self.take(")")
        return Node("call", function.start, self._last_end, [function, *arguments])
