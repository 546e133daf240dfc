"""The passes in the order in which they run, and what runs them.

What a pass is, :mod:`fgpu.compiler.passes` says; :data:`PASSES` is all of them. Between two phases the search of
:mod:`fgpu.compiler.fitting` decides something: which subroutines there are, which order of the operations is best,
and whether there is room.
"""

from collections.abc import Callable
from typing import Any

from fgpu.cu.pipeline import float_result_cycles

from .backend.allocate import allocate
from .backend.cse import eliminate_common_subexpressions
from .backend.dce import eliminate_dead_code
from .backend.delay_increments import delay_increments
from .backend.divergent_barriers import find_divergent_barriers
from .backend.emit import jump_to_last_calls, skip_empty_blocks
from .backend.fold_parameters import fold_parameters
from .backend.licm import hoist_invariants
from .backend.mir import ARGUMENTS, MachineFunction
from .backend.out_of_ssa import leave_ssa
from .backend.reconvergence import reconverge
from .backend.schedule import overlap, shorten_lives
from .backend.uniformity import find_divergent_branches
from .backend.unify_exits import unify_exits
from .ir.module import Function
from .legalize.aggregates import chooses_aggregates, split_aggregates
from .legalize.bit_counting import expand_bit_counting
from .legalize.comparisons import expand_comparisons
from .legalize.division import expand_divisions
from .legalize.doubles import expand_doubles
from .legalize.float_classes import expand_float_classes
from .legalize.floats import expand_floats, floats_as_words
from .legalize.halves import promote_halves
from .legalize.inline_calls import inline_by_signature
from .legalize.inline_routines import inline_routines
from .legalize.local_memory import lower_local_to_global, place_local_variables, touches_local
from .legalize.memcpy import expand_copies
from .legalize.overflow import expand_overflow
from .legalize.printf import expand_printf, prints
from .legalize.scalarize import scalarize
from .legalize.struct_arguments import split_structs
from .legalize.switches import expand_switches
from .legalize.tables import localize_tables
from .legalize.unaligned import split_unaligned
from .legalize.wide_integers import split_wide_integers
from .legalize.work_dim import ask_for_dimensions
from .optimize.induction_variables import compare_counters_for_equality, count_once, merge_counters
from .optimize.mulhi import combine_mulhi
from .optimize.narrow_loads import combine_bytes, has_narrow_loads, merge_narrow_loads
from .optimize.outline import outline_repeats
from .optimize.unrolled_loops import enter_unrolled_loops_late
from .passes import Context, Fact, Order, Pass, Phase
from .select.frame import make_frame, private_in_frame
from .select.isel import lower

__all__ = ["DIVERGENCE", "PASSES", "run_phase"]

DIVERGENCE = 6
"""Entries of the link stack that branches of a wavefront may need (see Config.link_stack_depth)."""


def _alone(run: Callable[[Any], Any]) -> Callable[[Any, Context], None]:
    """The form of a pass for a function that needs no context."""
    def with_context(function: Any, _context: Context) -> None:
        run(function)
    return with_context


def _inline(function: Function, context: Context) -> None:
    plan = context.plan
    inline_by_signature(function, context.module, context.config, len(ARGUMENTS), context.under_way, context.bodies,
                        plan.has_frame, plan.has_calls, plan.table_words)


def _place_local_variables(function: Function, context: Context) -> None:
    place_local_variables(function, context.module.local_variables, context.config)


def _lower_local_to_global(function: Function, context: Context) -> None:
    context.hide(*lower_local_to_global(function, context.module, context.config))


def _make_frame(function: Function, context: Context) -> None:
    context.hide(make_frame(function, context.frame_begin))


def _localize_tables(function: Function, context: Context) -> None:
    context.hide(localize_tables(function, context.module.variables, context.data, context.plan.table_words))


def _expand_printf(function: Function, context: Context) -> None:
    has_cursor = "add" in context.config.atomics
    context.hide(expand_printf(function, context.module.variables, context.formats, has_cursor))


def _ask_for_dimensions(function: Function, context: Context) -> None:
    context.hide(ask_for_dimensions(function))


def _outline_repeats(function: Function, context: Context) -> None:
    context.outlined = outline_repeats(function, context.module.functions, len(ARGUMENTS))


def _select(function: Function, context: Context) -> MachineFunction:
    machine = lower(function, context.module, context.config, context.callees)
    machine.is_kernel = function.is_kernel
    return machine


def _allocate(function: MachineFunction, context: Context) -> None:
    room = None if context.frame_words is None else context.config.scratchpad_words
    context.scratchpad = allocate(function, room, context.frame_words or 0, context.registers, context.after_spilling)


def _keeps_local_memory(function: Function, context: Context) -> bool:
    return context.config.local_memory > 0 and function.is_kernel and touches_local(function)


def _lacks_local_memory(function: Function, context: Context) -> bool:
    return context.config.local_memory == 0 and touches_local(function)


def _warn_of_barriers(function: MachineFunction, context: Context) -> None:
    context.warnings = tuple(
        f"{barrier}: a barrier to which some work-items of a work-group come and others may not, by the branch at "
        f"{branch}: it depends on a work-item's id" for barrier, branch in find_divergent_barriers(function))


def _has_frame(_function: Any, context: Context) -> bool:
    return context.plan.has_frame


def _chooses_aggregates(function: Function, _context: Context) -> bool:
    return chooses_aggregates(function)


def _is_subroutine(function: MachineFunction, _context: Context) -> bool:
    return not function.is_kernel


def _is_kernel(function: Function | MachineFunction, _context: Context) -> bool:
    return function.is_kernel


def _reconverges(function: MachineFunction, context: Context) -> bool:
    # Other schemes need no subroutines for that.
    return function.is_kernel and context.reconverges and context.config.divergence == "stack"


def _ordered_by(order: Order) -> Callable[[Any, Context], bool]:
    return lambda _function, context: context.order is order


_INLINE, _IR, _OUTLINE, _SELECT, _SCHEDULE, _ALLOCATE, _FINISH = Phase
_SCALARS = (Fact.INLINED, Fact.WORDS, Fact.SCALAR)

PASSES: tuple[Pass, ...] = (
    Pass("inline-calls", _INLINE, "calls of functions that cannot be subroutines become their bodies", _inline,
         leaves=(Fact.INLINED,)),
    Pass("expand-printf", _IR, "calls of printf become records in a buffer", _expand_printf, needs=(Fact.INLINED,),
         applies=lambda function, _context: prints(function)),
    Pass("place-local-variables", _IR, "a kernel's variables in local memory become addresses",
         _place_local_variables, needs=(Fact.INLINED,), leaves=(Fact.PLACED,), applies=_keeps_local_memory),
    Pass("local-to-global", _IR, "local memory becomes a work-group's region of global memory",
         _lower_local_to_global, needs=(Fact.INLINED,), leaves=(Fact.PLACED,), applies=_lacks_local_memory),
    Pass("private-in-frame", _IR, "pointers to private memory point to the frame", _alone(private_in_frame),
         needs=(Fact.INLINED,), applies=_has_frame),
    Pass("split-aggregates", _IR, "phis, selects and freezes of structs become ones of their members",
         _alone(split_aggregates), applies=_chooses_aggregates),
    Pass("expand-overflow", _IR, "arithmetic with overflow and saturation becomes plain operations",
         _alone(expand_overflow), leaves=(Fact.NO_OVERFLOW,)),
    Pass("expand-comparisons", _IR, "comparisons in three ways become differences of two",
         _alone(expand_comparisons)),
    Pass("expand-copies", _IR, "memcpy and memset become loads and stores",
         lambda function, context: expand_copies(function, context.module.variables),
         needs=(Fact.INLINED,), leaves=(Fact.NO_COPIES,)),
    Pass("floats-as-words", _IR, "floats are integers of as many bits; operations keep their names",
         _alone(floats_as_words), needs=(Fact.NO_COPIES,), leaves=(Fact.WORDS,)),
    Pass("split-structs", _IR, "structs among a kernel's parameters become words", _alone(split_structs),
         needs=(Fact.WORDS,), leaves=(Fact.NO_STRUCTS,)),
    Pass("make-frame", _IR, "private variables become places of the frame", _make_frame,
         needs=(Fact.NO_STRUCTS,), applies=_has_frame),
    Pass("scalarize", _IR, "vectors become scalars", _alone(scalarize),
         needs=(Fact.WORDS,), leaves=(Fact.SCALAR,)),
    Pass("localize-tables", _IR, "constant tables become private arrays or places of the data segment",
         _localize_tables, needs=_SCALARS, leaves=(Fact.NO_TABLES,)),
    Pass("work-dim", _IR, "get_work_dim() becomes a parameter", _ask_for_dimensions, needs=(Fact.INLINED,)),
    Pass("late-unrolled-loops", _IR, "work-items meet at the check behind unrolled loops",
         _alone(enter_unrolled_loops_late), needs=(Fact.SCALAR,)),
    Pass("merge-counters", _IR, "one counter where several of a loop grow alike", _alone(merge_counters),
         needs=(Fact.SCALAR,), leaves=(Fact.FEW_COUNTERS,)),
    Pass("equality-exits", _IR, "loops end at i + 1 != n rather than i + 1 < n",
         _alone(compare_counters_for_equality), needs=(Fact.FEW_COUNTERS,)),
    Pass("drop-counters", _IR, "a variable of the program tells a loop's end instead of a counter",
         _alone(count_once), needs=(Fact.FEW_COUNTERS,)),
    Pass("mulhi", _IR, "the high half of a product is a call of a routine", _alone(combine_mulhi),
         needs=(Fact.SCALAR,)),
    Pass("expand-switches", _IR, "switches become chains of comparisons", _alone(expand_switches),
         leaves=(Fact.NO_SWITCHES,)),
    Pass("expand-float-classes", _IR, "llvm.is.fpclass becomes comparisons of words", _alone(expand_float_classes),
         needs=(Fact.WORDS, Fact.SCALAR)),
    Pass("expand-doubles", _IR, "operations on numbers of 64 bits become routines", _alone(expand_doubles),
         needs=(Fact.WORDS, Fact.SCALAR), leaves=(Fact.NO_DOUBLES,)),
    Pass("promote-halves", _IR, "operations on numbers of 16 bits become operations on floats",
         _alone(promote_halves), needs=(Fact.WORDS, Fact.SCALAR), leaves=(Fact.NO_HALVES,)),
    Pass("expand-floats", _IR, "operations on floats that the hardware lacks become integer operations and routines",
         lambda function, context: expand_floats(function, context.config.float_ops, context.config.float_subnormals),
         needs=(Fact.WORDS, Fact.SCALAR, Fact.NO_DOUBLES, Fact.NO_HALVES), leaves=(Fact.FEW_FLOATS,)),
    Pass("split-wide-integers", _IR, "integers of more than 32 bits become words", _alone(split_wide_integers),
         needs=(Fact.SCALAR, Fact.NO_OVERFLOW, Fact.NO_STRUCTS, Fact.FEW_FLOATS), leaves=(Fact.NARROW,)),
    Pass("split-unaligned", _IR, "accesses of odd size or alignment become several", _alone(split_unaligned),
         needs=(Fact.NARROW,), leaves=(Fact.ALIGNED,)),
    Pass("expand-divisions", _IR, "quotients and remainders become shifts, products with reciprocals, and routines",
         _alone(expand_divisions), needs=(Fact.NARROW,), leaves=(Fact.NO_DIVISIONS,)),
    Pass("expand-bit-counting", _IR, "counts of ones and of leading or trailing zeros become routines",
         _alone(expand_bit_counting), needs=(Fact.NARROW,)),
    Pass("inline-routines", _IR, "short routines, and those that few places call, become their bodies",
         _alone(inline_routines), needs=(Fact.NARROW, Fact.FEW_FLOATS, Fact.NO_DIVISIONS), leaves=(Fact.LEGAL,)),
    Pass("merge-narrow-loads", _IR, "loads of neighbouring bytes and halves become loads of words",
         _alone(merge_narrow_loads), needs=(Fact.ALIGNED, Fact.LEGAL),
         applies=lambda function, _context: has_narrow_loads(function)),
    Pass("combine-bytes", _IR, "what is put together of all bytes of a word is that word", _alone(combine_bytes),
         needs=(Fact.NARROW,)),

    Pass("outline-repeats", _OUTLINE, "what a kernel does several times becomes a subroutine", _outline_repeats,
         needs=(Fact.LEGAL, Fact.ALIGNED), applies=_is_kernel),

    Pass("select", _SELECT, "instruction selection: machine operations on virtual registers", _select,
         needs=(Fact.LEGAL, Fact.ALIGNED, Fact.NO_SWITCHES, Fact.NO_TABLES), leaves=(Fact.SSA,)),
    Pass("dce", _SELECT, "dead code elimination", _alone(eliminate_dead_code), needs=(Fact.SSA,)),
    Pass("cse", _SELECT, "common subexpression elimination", _alone(eliminate_common_subexpressions),
         needs=(Fact.SSA,)),
    Pass("licm", _SELECT, "loop-invariant code motion", _alone(hoist_invariants), needs=(Fact.SSA,)),
    Pass("cse", _SELECT, "common subexpression elimination", _alone(eliminate_common_subexpressions),
         needs=(Fact.SSA,)),
    Pass("fold-parameters", _SELECT, "accesses read the parameters that are their bases", _alone(fold_parameters),
         needs=(Fact.SSA,)),
    Pass("dce", _SELECT, "dead code elimination", _alone(eliminate_dead_code), needs=(Fact.SSA,)),
    Pass("delay-increments", _SELECT, "loop variables grow behind the last use of their old value",
         _alone(delay_increments), needs=(Fact.SSA,)),
    Pass("uniformity", _SELECT, "which branches may split a wavefront", _alone(find_divergent_branches),
         needs=(Fact.SSA,), leaves=(Fact.DIVERGENCE,)),
    Pass("divergent-barriers", _SELECT, "a warning of barriers behind branches that depend on a work-item's id",
         _warn_of_barriers, needs=(Fact.SSA,), applies=_is_kernel),
    Pass("unify-exits", _SELECT, "work-items leave loops from where they meet", _alone(unify_exits),
         needs=(Fact.SSA, Fact.DIVERGENCE), applies=_reconverges),

    Pass("schedule-latency", _SCHEDULE, "loads and results overlap with what does not need them",
         lambda function, context: overlap(function, float_result_cycles(context.config)),
         needs=(Fact.SSA,), applies=_ordered_by(Order.LATENCY)),
    Pass("schedule-pressure", _SCHEDULE, "few registers live at once", _alone(shorten_lives),
         needs=(Fact.SSA,), applies=_ordered_by(Order.PRESSURE)),

    Pass("out-of-ssa", _ALLOCATE, "phis and tied operands become moves", _alone(leave_ssa),
         needs=(Fact.SSA,), leaves=(Fact.NO_PHIS,), breaks=(Fact.SSA,)),
    Pass("allocate", _ALLOCATE, "registers by graph colouring; spills to the scratchpad or the frame", _allocate,
         needs=(Fact.NO_PHIS,), leaves=(Fact.PHYSICAL,)),

    Pass("skip-empty-blocks", _FINISH, "branches go where a block that does nothing goes", _alone(skip_empty_blocks),
         needs=(Fact.NO_PHIS,)),
    Pass("tail-calls", _FINISH, "what a subroutine ends with calling returns for it", _alone(jump_to_last_calls),
         needs=(Fact.PHYSICAL,), applies=_is_subroutine),
    Pass("reconvergence", _FINISH, "divergent regions become subroutines: RET waits for every part",
         lambda function, context: reconverge(function, context.config.link_stack_depth - DIVERGENCE),
         needs=(Fact.PHYSICAL, Fact.DIVERGENCE), applies=_reconverges),
    Pass("skip-empty-blocks", _FINISH, "branches go where a block that does nothing goes", _alone(skip_empty_blocks),
         needs=(Fact.NO_PHIS,)),
)


def run_phase(phase: Phase, function: Any, context: Context) -> Any:
    """Run the passes of ``phase`` on ``function``; returns it, or what a pass made of it."""
    for step in PASSES:
        if step.phase is phase and step.applies(function, context):
            for observer in context.observers:
                observer.before(step, function, context)
            made = step.run(function, context)
            function = function if made is None else made
            for observer in context.observers:
                observer.after(step, function, context)
    return function
