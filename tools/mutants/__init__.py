"""Mutation tests: a small fault is planted in a copy of the tree, and a test must fail.

``python_operators`` and ``lua_operators`` generate the faults (mutants) from the product's source;
``faults`` has those that no operator can make. ``python -m tools.mutants --help`` says how to run them.
"""
