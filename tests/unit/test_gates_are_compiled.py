"""What a gate waits for, how long, and of which type, as flytekit writes it."""

from __future__ import annotations

from datetime import timedelta

from flyteidl.core import workflow_pb2

from engine.model.graph import GateKind, GateSpec, NodeKind
from tests.literal_types import INT
from tests.packages import bound, complaints, given, graph_of, node, output, task, workflow


def _gate(gate: workflow_pb2.GateNode) -> workflow_pb2.Node:
    made = workflow_pb2.Node(id="n1", gate_node=gate)
    made.metadata.timeout.FromTimedelta(timedelta(hours=1))
    return made


def test_a_signal_keeps_its_id_its_type_and_its_output() -> None:
    signal = workflow_pb2.SignalCondition(signal_id="how-many", type=INT, output_variable_name="o0")
    after = node("n2", {"a": output("n1")})
    spec = graph_of(task("m.t"), workflow("m.w", _gate(workflow_pb2.GateNode(signal=signal)), after)).nodes["n1"]

    assert spec.kind is NodeKind.GATE
    assert spec.gate == GateSpec(GateKind.SIGNAL, "how-many", INT.SerializeToString(), "o0")
    assert spec.timeout_seconds == 3600.0


def test_an_approval_gives_what_it_is_given() -> None:
    asks = _gate(workflow_pb2.GateNode(approve=workflow_pb2.ApproveCondition(signal_id="fine")))
    asks.inputs.extend(bound({"o0": output("n0")}))
    flow = workflow("m.w", node("n0", {"a": given("n")}), asks, node("n2", {"a": output("n1")}))
    spec = graph_of(task("m.t"), flow).nodes["n1"]

    assert spec.gate == GateSpec(GateKind.APPROVE, "fine")
    assert spec.upstream == ("n0",)
    assert spec.sources == ("n0",)


def test_a_sleep_keeps_its_length_to_the_nanosecond() -> None:
    sleep = workflow_pb2.SleepCondition()
    sleep.duration.FromTimedelta(timedelta(seconds=2, microseconds=500_000))
    spec = graph_of(task("m.t"), workflow("m.w", _gate(workflow_pb2.GateNode(sleep=sleep)))).nodes["n1"]

    assert spec.gate == GateSpec(GateKind.SLEEP, seconds=2.5)


def test_a_gate_without_a_condition_is_a_mistake_of_the_package() -> None:
    assert complaints(task("m.t"), workflow("m.w", _gate(workflow_pb2.GateNode()))) == [
        "workflow m.w, node n1: it is a gate without a condition: neither signal nor approval nor sleep"
    ]
