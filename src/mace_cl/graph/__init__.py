"""The network as a graph with static shapes, its operators, and a checker."""

from mace_cl.graph.core import Graph, Node, Value

__all__ = ["Graph", "Node", "Value"]
