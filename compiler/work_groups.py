"""What functions have to do with their work-groups."""

import re

from .ir.module import Function, Module, Op

__all__ = ["BARRIERS", "asks_for_work_groups", "has_barrier"]

BARRIERS = ("_Z7barrierj", "_Z18work_group_barrierj")
"""The functions at which a work-item waits for the others of its work-group, whatever the flags."""

_ASKING = re.compile(r"_Z\d+(get_local_|get_group_id|get_num_groups|get_global_offset|get_enqueued_|barrier"
                     r"|work_group_|sub_group_|async_work_group_|wait_group_events)")
"""Built-in functions whose results, or effects, depend on the work-groups. A part of a launch begins at an offset, so
the global one is among them."""


def asks_for_work_groups(kernel: Function, module: Module) -> bool:
    """Whether ``kernel``, or a function that it calls, asks how work-items are grouped, or acts with its group.

    A launch of others may be cut in parts.
    """
    return any(i.op is Op.CALL and _ASKING.match(i.callee)
               for function in module.reached_from(kernel) for i in function.instructions())


def has_barrier(function: Function) -> bool:
    """Whether work-items wait for others in ``function`` itself."""
    return any(i.op is Op.CALL and i.callee in BARRIERS for i in function.instructions())
