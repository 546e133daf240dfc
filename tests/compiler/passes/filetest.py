"""Tests of one pass each, in files: a module in textual IR, what the pass makes of it, and what to watch out for.

    ; what this shows
    ; pass: scalarize

    function void @f(...) {
    ...

    ; expect

    function void @f(...) {
    ...

Lines ``; frame``, ``; words N`` (of the scratchpad, for tables), ``; local-memory N`` (KiB),
``; atomics NAME...`` (all of them where there is no such line) and ``; float-ops NAME...`` say how the program is
compiled; of machine IR (``.mir``, one function) ``; registers N`` how many there are. The pass runs on every function
that is there, and what the verifier does not accept fails. Of ``select`` machine IR comes out.
``python -m tests.compiler.passes.update`` writes what comes out now behind ``; expect``; read the difference.
"""

import re
from pathlib import Path

from fgpu.compiler.backend.mir import COLOURS
from fgpu.compiler.backend.parser import parse_machine_function
from fgpu.compiler.backend.printer import print_machine_function
from fgpu.compiler.ir.module import Module
from fgpu.compiler.ir.parser import parse_module
from fgpu.compiler.ir.printer import print_module
from fgpu.compiler.ir.verifier import verify
from fgpu.compiler.legalize.tables import DataSegment
from fgpu.compiler.passes import Context, Order, Plan
from fgpu.compiler.pipeline import PASSES
from fgpu.config import ATOMICS, Config

__all__ = ["EXPECT", "FILES", "apply", "parts"]

FILES = sorted(path for path in Path(__file__).parent.iterdir() if path.suffix in (".ir", ".mir"))
"""Of IR, and of machine IR, a function each."""
EXPECT = "; expect\n"


def parts(path: Path) -> tuple[str, str]:
    """What goes into the pass, with the comments before it, and what should come out."""
    before, _, after = path.read_text(encoding="utf-8").partition(EXPECT)
    return before, after.lstrip("\n")


def _setting(text: str, name: str) -> str | None:
    match = re.search(rf"^; {name}(?::? (.*))?$", text, re.M)
    return None if match is None else match[1] or ""


def _apply_to_machine_ir(text: str, file: str) -> str:
    step = next(step for step in PASSES if step.name == _setting(text, "pass"))
    assert not step.phase.is_ir, f"{file}: {step.name} is a pass on IR"
    function = parse_machine_function(text, file)
    context = Context(Config(), Module({}, {}, {}), Plan(0), DataSegment())
    context.order = next((order for order in Order if step.name == f"schedule-{order.value}"), Order.SOURCE)
    context.registers = COLOURS[:int(_setting(text, "registers") or len(COLOURS))]
    if step.applies(function, context):
        step.run(function, context)
    return print_machine_function(function)


def apply(text: str, file: str) -> str:
    """What the pass that ``text`` names makes of it."""
    if file.endswith(".mir"):
        return _apply_to_machine_ir(text, file)
    name = _setting(text, "pass")
    step = next((step for step in PASSES if step.name == name and (step.phase.is_ir or name == "select")), None)
    assert step is not None, f"{file}: there is no pass {name!r} on IR"
    module = parse_module(text, file)
    atomics = _setting(text, "atomics")
    config = Config(float_ops=(_setting(text, "float-ops") or "").split(),
                    local_memory=int(_setting(text, "local-memory") or 0),
                    atomics=ATOMICS if atomics is None else atomics.split())
    plan = Plan(int(_setting(text, "words") or 0), has_frame=_setting(text, "frame") is not None,
                has_calls=_setting(text, "calls") is not None)
    context = Context(config, module, plan, DataSegment())
    selected: list[str] = []
    for function in [*module.functions.values()]:
        verify(function, module)
        context.under_way = (function.name,)
        if step.name == "select":
            selected.append(print_machine_function(step.run(function, context)))
            continue
        if step.applies(function, context):
            step.run(function, context)
        verify(function, module)
    return "\n".join(selected) or print_module(module)
