"""What a kernel family is: a plain `.cl` file and, beside it, the `.py` that declares how it is used.

A family says which nodes it takes (`match`), which parameters can vary on a device (`space`, `default`), what that
would cost (`cost`), and which launches it makes (`emit`). It knows the graph and a device's facts; it does not know
buffers, offsets, the plan or OpenCL.

Conventions of a `.cl` file:

* OpenCL C 1.2. The kernel function is called KERNEL; helpers are `static inline` and named through FN(name), so that
  many specialisations stand in one program. The file undefines each macro that it defines.
* HINT stands in front of `__kernel` functions that write out their own vectors.
* Shapes that change the inner loop are macros; those that do not are arguments. Equal macros mean equal kernels.
* No access outside the tensors given, not even of a byte that is then ignored.
* Tensors are dense, channels innermost. Input pointers are `const __global T *restrict`.
* EPILOGUE(T, r, x0, x1 ...) is a statement macro made by `kernels/expression.py`: r of type T (a scalar or vector
  type) becomes the expression of the operands of type T.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

import numpy as np

from mace_cl.graph.core import Graph, Node, Value
from mace_cl.graph.ops.base import Cost
from mace_cl.targets.facts import DeviceFacts

Config: TypeAlias = Mapping[str, int]
"""Values of a family's parameters."""


@dataclass(frozen=True)
class KernelSpec:
    """A specialisation of a kernel: a `.cl` file with its macros.

    Attributes:
        family: Stem of the `.cl` file.
        macros: Macro name to its replacement text, one line each.
    """

    family: str
    macros: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, family: str, macros: Mapping[str, object]) -> KernelSpec:
        """A specialisation with macros in alphabetical order; values are written with str()."""
        return cls(family, tuple(sorted((k, str(v)) for k, v in macros.items())))

    @property
    def suffix(self) -> str:
        """Ten hexadecimal digits that tell specialisations apart."""
        return hashlib.sha256(repr((self.family, self.macros)).encode()).hexdigest()[:10]

    @property
    def function(self) -> str:
        """Name of the kernel function in a program."""
        return f"{self.family}_{self.suffix}"


@dataclass(frozen=True)
class Read:
    """A pointer to a value of the graph, read."""

    value: Value


@dataclass(frozen=True)
class Write:
    """A pointer to a value of the graph, written in full."""

    value: Value


@dataclass(frozen=True, eq=False)
class Weights:
    """A pointer to constants packed for the kernel; equal arrays are stored once."""

    array: np.ndarray
    name: str = "weights"


@dataclass(frozen=True, eq=False)
class Scratch:
    """A pointer to device memory whose content matters only within the calls of one `emit`.

    The same object in two calls is the same memory.
    """

    nbytes: int
    name: str = "scratch"


@dataclass(frozen=True)
class Scalar:
    """A number passed by value; `type` is 'int', 'uint', 'long', 'ulong', 'float', ..."""

    type: str
    value: float


@dataclass(frozen=True)
class LocalMemory:
    """Local memory of `nbytes` bytes."""

    nbytes: int


CallArg: TypeAlias = Read | Write | Weights | Scratch | Scalar | LocalMemory


@dataclass(frozen=True)
class KernelCall:
    """One launch.

    Attributes:
        spec: The kernel.
        args: Its arguments in order.
        global_size: Work-items in each dimension; a multiple of local_size.
        local_size: Work-group size; the default of one work-item is right for CPUs only.
        cost: FLOP and bytes, for profiles.
    """

    spec: KernelSpec
    args: tuple[CallArg, ...]
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    cost: Cost = field(default_factory=lambda: Cost(0, 0))


@dataclass(frozen=True)
class Match:
    """Nodes that a family computes together.

    Attributes:
        nodes: In topological order; the first is the one that was asked for.
        inputs: Values read from outside.
        outputs: Values written for others.
    """

    nodes: tuple[Node, ...]
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]

    @property
    def node(self) -> Node:
        """The first node."""
        return self.nodes[0]


@dataclass(frozen=True)
class Refusal:
    """Why a family does not take a node; shown by `mace explain`."""

    reason: str


class Family(ABC):
    """One kernel family. Instances hold no state."""

    name: ClassVar[str]
    """Stem of the `.cl` and `.py` files."""
    operators: ClassVar[tuple[str, ...]]
    """Names of operators that a match can start with."""

    @abstractmethod
    def match(self, graph: Graph, node: Node, facts: DeviceFacts) -> Match | Refusal:
        """The nodes, from `node` on, that one `emit` would compute, or why not.

        Values between the nodes of a match must have no other user and be no output of the graph (`interior`).
        """

    def space(self, match: Match, facts: DeviceFacts) -> Iterable[Config]:
        """Every legal choice of parameters on the device; the default first."""
        yield self.default(match, facts)

    def default(self, match: Match, facts: DeviceFacts) -> Config:
        """The choice without tuning."""
        return {}

    @abstractmethod
    def cost(self, match: Match, config: Config, facts: DeviceFacts) -> float:
        """Estimated microseconds of the calls that `emit` would make, launches included."""

    @abstractmethod
    def emit(self, match: Match, config: Config, facts: DeviceFacts) -> Sequence[KernelCall]:
        """The launches, in order."""


def interior(graph: Graph, value: Value) -> bool:
    """Whether the value has one user and is no output, so that it need not be stored."""
    return len(value.users) == 1 and not graph.is_output(value)


def single(node: Node) -> Match:
    """The match of a node alone."""
    inputs = tuple(dict.fromkeys(v for v in node.inputs if v is not None and not v.is_constant))
    return Match((node,), inputs, tuple(node.outputs))


def roofline_us(cost: Cost, facts: DeviceFacts, efficiency: float, launches: int = 1) -> float:
    """Time of work at a part of the device's peak, or of its bandwidth, whichever is longer, plus launches.

    Args:
        cost: The work.
        facts: The device.
        efficiency: Part of the arithmetic peak that the kernel reaches, 0 to 1.
        launches: Number of launches.
    """
    flops_per_us = facts.gflops_per_unit * facts.compute_units * 1e3 * efficiency
    return max(cost.flop / flops_per_us, cost.bytes / (facts.gbytes_per_s * 1e3)) + launches * facts.launch_us
