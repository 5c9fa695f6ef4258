"""Operators for Python, based on ``ast``."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from tools.mutants.mutant import Edit

_COMPARISON_SWAPS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
}
_LOGGERS = {"log", "_log", "logger", "_logger", "logging", "warnings"}
_CLOCKS = {"monotonic", "perf_counter"}
# Keywords for a text to read, or for the type checker.
_TEXTS = {"help", "description", "title", "summary", "doc", "examples", "metavar", "epilog", "stacklevel"}


def edits(source: str) -> Iterator[Edit]:
    finder = _Finder(source)
    finder.visit(ast.parse(source))
    yield from finder.edits


def is_program(source: str, mutant_text: str) -> bool:
    """Whether it compiles, and means something else than the source."""
    try:
        compile(mutant_text, "<mutant>", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return ast.dump(ast.parse(mutant_text)) != ast.dump(ast.parse(source))


def _reads_clock(node: ast.expr) -> bool:
    """Whether it calls a clock with nanoseconds, which is never read at exactly the time compared with."""
    calls = (child.func for child in ast.walk(node) if isinstance(child, ast.Call))
    return any(ast.unparse(call).rpartition(".")[2] in _CLOCKS for call in calls)


def _names_from_clock(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """Its variables that are set from such a clock."""
    return {
        target.id
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and _reads_clock(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


class _Finder(ast.NodeVisitor):
    def __init__(self, source: str) -> None:
        self._source = source
        lines = source.splitlines(keepends=True)
        self._lines = lines
        self._starts = [0]
        for line in lines:
            self._starts.append(self._starts[-1] + len(line))
        self.edits: list[Edit] = []
        self._clock_names: set[str] = set()

    def _index(self, line: int, column: int) -> int:
        """Convert a position of ``ast``, which counts bytes, to an index in the text."""
        before = self._lines[line - 1].encode()[:column]
        return self._starts[line - 1] + len(before.decode())

    def _start(self, node: ast.expr | ast.stmt | ast.keyword) -> int:
        return self._index(node.lineno, node.col_offset)

    def _end(self, node: ast.expr | ast.stmt | ast.keyword) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._index(node.end_lineno, node.end_col_offset)

    def _source_of(self, node: ast.expr) -> str:
        return self._source[self._start(node) : self._end(node)]

    def _replace(self, operator: str, node: ast.expr | ast.stmt, new: str) -> None:
        start, end = self._start(node), self._end(node)
        self.edits.append(Edit(operator, start, end, new + self._newlines(start, end, new)))

    def _newlines(self, start: int, end: int, new: str) -> str:
        """The newlines that the new text lacks, so that all other lines keep their numbers. They may only
        follow a whole statement."""
        return "\n" * self._source.count("\n", start, end) if new == "pass" else ""

    # Statements

    def visit_Expr(self, node: ast.Expr) -> None:
        value = node.value.value if isinstance(node.value, ast.Await) else node.value
        if isinstance(value, ast.Call):
            if _is_log_call(value):
                return
            self._replace("call", node, "pass")
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets):
            return  # read only by tools and ``import *``
        if all(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets):
            self._replace("set", node, "pass")
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._replace("set", node, "pass")
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Delete(self, node: ast.Delete) -> None:
        self._replace("set", node, "pass")

    def visit_If(self, node: ast.If) -> None:
        if _is_type_check(node.test):
            return
        self._negate(node.test)
        self._drop_exit(node.body)
        self._drop_exit(node.orelse)
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        self._negate(node.test)
        self._drop_exit(node.body)
        self.generic_visit(node)

    def visit_For(self, node: ast.For) -> None:
        self._drop_exit(node.body)
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        if isinstance(node.value, ast.Compare | ast.BoolOp) or (
            isinstance(node.value, ast.UnaryOp) and isinstance(node.value.op, ast.Not)
        ):
            self._negate(node.value)
        self.generic_visit(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        """An error that is not caught."""
        if node.type is not None:
            self._replace("except", node.type, "ZeroDivisionError")
        self._drop_exit(node.body)
        for statement in node.body:
            self.visit(statement)

    def _drop_exit(self, block: Sequence[ast.stmt]) -> None:
        """A return, continue or raise at the end of a block dropped, so that the code after it also runs."""
        if block and isinstance(block[-1], ast.Return | ast.Continue | ast.Raise):
            self._replace("return", block[-1], "pass")

    # Expressions

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for condition in node.ifs:
            self._negate(condition)
        self.generic_visit(node)

    def _negate(self, test: ast.expr) -> None:
        if not isinstance(test, ast.Constant):
            self._replace("negate", test, f"(not ({self._source_of(test)}))")

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        """``a and b`` without ``b``, and without ``a``."""
        for index in range(len(node.values)):
            self._drop_listed("part", node.values, index)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        for left, operator, right in zip(operands, node.ops, node.comparators, strict=False):
            swap = _COMPARISON_SWAPS.get(type(operator))
            if swap and not (self._has_clock_time(left) or self._has_clock_time(right)):
                start = self._source.index(swap[0], self._end(left), self._start(right))
                self.edits.append(Edit("compare", start, start + len(swap[0]), swap[1]))
        self._shift(operands, 1)
        self.generic_visit(node)

    def _has_clock_time(self, operand: ast.expr) -> bool:
        names = (child.id for child in ast.walk(operand) if isinstance(child, ast.Name))
        return _reads_clock(operand) or any(name in self._clock_names for name in names)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if isinstance(node.op, ast.Add | ast.Sub):
            self._shift((node.left, node.right), -1)
            if not any(
                isinstance(operand, ast.Constant | ast.JoinedStr) for operand in (node.left, node.right)
            ):
                self._replace("part", node, f"({self._source_of(node.left)})")
                self._replace("part", node, f"({self._source_of(node.right)})")
        self.generic_visit(node)

    def visit_Slice(self, node: ast.Slice) -> None:
        self._shift((operand for operand in (node.lower, node.upper) if operand is not None), 1)
        self.generic_visit(node)

    def _shift(self, operands: Iterable[ast.expr], difference: int) -> None:
        """Numbers in a comparison or a slice one higher; those that are added or subtracted one lower."""
        for operand in operands:
            if isinstance(operand, ast.Constant) and type(operand.value) is int:
                self._replace("bound", operand, str(operand.value + difference))

    def visit_Call(self, node: ast.Call) -> None:
        """A keyword argument dropped; ``min(a, b)`` as ``a``, and as ``b``."""
        if _is_log_call(node):
            return
        for keyword in node.keywords:
            if keyword.arg is not None and keyword.arg not in _TEXTS:
                self._drop_with_comma("field", self._start(keyword), self._end(keyword))
        if isinstance(node.func, ast.Name) and node.func.id in {"min", "max"} and len(node.args) == 2:
            for argument in node.args:
                self._replace("limit", node, f"({self._source_of(argument)})")
        self.generic_visit(node)

    def visit_Dict(self, node: ast.Dict) -> None:
        for key, value in zip(node.keys, node.values, strict=True):
            if key is not None:
                self._drop_with_comma("field", self._start(key), self._end(value))
        self.generic_visit(node)

    def visit_Tuple(self, node: ast.Tuple) -> None:
        self._drop_constants(node.elts)
        self.generic_visit(node)

    def visit_List(self, node: ast.List) -> None:
        self._drop_constants(node.elts)
        self.generic_visit(node)

    def visit_Set(self, node: ast.Set) -> None:
        self._drop_constants(node.elts)
        self.generic_visit(node)

    def _drop_constants(self, elements: Sequence[ast.expr]) -> None:
        """Elements dropped from a list of words or numbers."""
        if len(elements) > 1 and all(isinstance(element, ast.Constant) for element in elements):
            for index in range(len(elements)):
                self._drop_listed("field", elements, index)

    def _drop_listed(self, operator: str, nodes: Sequence[ast.expr], index: int) -> None:
        """One of several elements dropped, with the separator between it and its neighbour."""
        if index + 1 < len(nodes):
            start, end = self._start(nodes[index]), self._start(nodes[index + 1])
        else:
            start, end = self._end(nodes[index - 1]), self._end(nodes[index])
        self.edits.append(Edit(operator, start, end, ""))

    def _drop_with_comma(self, operator: str, start: int, end: int) -> None:
        after = self._source[end:]
        blank = len(after) - len(after.lstrip())
        if after[blank : blank + 1] == ",":
            end += blank + 1
        elif self._source[:start].rstrip().endswith(","):
            start = self._source.rindex(",", 0, start)
        self.edits.append(Edit(operator, start, end, ""))

    # What is left alone

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Only its body."""
        outer_names = self._clock_names
        self._clock_names = outer_names | _names_from_clock(node)
        for statement in node.body:
            self.visit(statement)
        self._clock_names = outer_names

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.visit_FunctionDef(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for statement in node.body:
            self.visit(statement)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Skipped: before Python 3.12, the parts of an f-string have no position in the file."""


def _is_log_call(call: ast.Call) -> bool:
    return (
        isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Name)
        and call.func.value.id in _LOGGERS
    )


def _is_type_check(test: ast.expr) -> bool:
    if isinstance(test, ast.Name):
        return test.id == "TYPE_CHECKING"
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"
