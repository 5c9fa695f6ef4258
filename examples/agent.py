"""python examples/agent.py ORDER AMOUNT (beside ./dev up --demo): refunds up to 50, asks a person above."""

import sys
from functools import partial
from typing import Any, TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

import leaseq
from leaseq.agents.langgraph import ask_people

FORM = {"type": "object", "required": ["refund"], "properties": {"refund": {"enum": ["yes", "no"]}}}


class Order(TypedDict, total=False):
    amount: float
    refund: str


def decide(state: Order) -> Order:  # a model could stand here
    if state["amount"] <= 50:
        return {"refund": "yes"}
    answer = interrupt({"text": f"Refund {state['amount']:.2f} EUR?"}, response_schema=FORM)
    return {"refund": answer["refund"]}


queue = leaseq.Queue(leaseq.connect(), "refunds")
queue.configure(title="Refunds")
ask = partial(queue.ask, timeout=86_400, default={"refund": "no"})  # nobody answers: no refund
thread: Any = {"configurable": {"thread_id": sys.argv[1]}}  # started again, it goes on with this order
with SqliteSaver.from_conn_string("agent.sqlite") as checkpointer:
    graph = StateGraph(Order).add_node(decide).add_edge(START, "decide").compile(checkpointer)
    if graph.get_state(thread).created_at is None:
        graph.invoke({"amount": float(sys.argv[2])}, thread)
    while (now := graph.get_state(thread)).next:
        print("A person is asked, on the page of Refunds. Ctrl-C leaves the question open.", flush=True)
        graph.invoke(ask_people(ask, now.interrupts) if now.interrupts else None, thread)
    print("refund:", now.values["refund"])
