"""Local memory: where a kernel's variables lie in it, and what becomes of it where the hardware has none.

The variables of a kernel begin at the work-group's first byte; its ``__local`` arguments follow them, and the host
gives their addresses. Without local memory each work-group has a region of global memory, and these are places in it:
the host tells in two parameters that the source does not have where the regions are and how large, and the hardware
which of them is the work-group's.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from fgpu.config import LOCAL_BASE, Config
from fgpu.errors import CapacityError
from fgpu.isa import Opcode

from ..ir.builder import Builder
from ..ir.inline import substitute
from ..ir.module import Function, Instruction, LocalVariable, Module, Op
from ..ir.values import BYTE, LOCAL_SPACE, VOID, WORD, Constant, Global, Local, Type, Value
from ..kernel import local_place
from ..select.atomics import atomic_name, atomic_opcode, has_locks, local_atomic
from ..work_groups import BARRIERS

__all__ = ["PARAMETERS", "PLACE", "locks", "lower_local_to_global", "place_local_variables", "touches_local",
           "uses_local_variables"]

PARAMETERS = ("local", "local_bytes")
"""The names of the parameters with the address of the regions, and with the bytes of each."""
PLACE = "fgpu_place"
"""The function that returns the number of the work-group's region."""
_GLOBAL_POINTER = Type("ptr", space=1)
_KIB = 1024
_LOCK_BYTES = 68
"""See ``runtime_library/local_atomics.cl``."""


def _used(function: Function, variables: Mapping[str, LocalVariable]) -> Iterator[Global]:
    for i in function.instructions():
        for operand in i.operands:
            if isinstance(operand, Global) and operand.name in variables:
                yield operand


def touches_local(function: Function) -> bool:
    """Whether there are pointers to local memory in ``function``."""
    types = [type for _, type in function.parameters]
    types += [type for instruction in function.instructions() for type in (instruction.type, *instruction.types)]
    return any(type.kind == "ptr" and type.space == LOCAL_SPACE for type in types)


def uses_local_variables(function: Function, variables: Mapping[str, LocalVariable]) -> bool:
    """Whether ``function`` itself uses some of its kernel's ``variables``."""
    return next(_used(function, variables), None) is not None


def locks(function: Function, module: Module, config: Config) -> bool:
    """Whether ``function`` has atomic operations on local memory that routines do."""
    return any(local_atomic(i) is not None for i in function.instructions()) and has_locks(module, config)


def _layout(function: Function, variables: Mapping[str, LocalVariable]) -> dict[str, int]:
    """The first byte of each variable that ``function`` uses, which then knows how many they take: those of large
    alignment first."""
    places: dict[str, int] = {}
    names = dict.fromkeys(operand.name for operand in _used(function, variables))
    for name in sorted(names, key=lambda name: -variables[name].align):
        variable = variables[name]
        places[name] = local_place(function.local_bytes, variable.align)
        function.local_bytes = places[name] + variable.type.size
    return places


def place_local_variables(function: Function, variables: Mapping[str, LocalVariable], config: Config) -> None:
    """Make addresses of the local ``variables`` of a kernel."""
    places = _layout(function, variables)
    if function.local_bytes > config.local_memory * _KIB:
        raise function.error(f"kernel {function.name!r} has {function.local_bytes} bytes of __local variables; there "
                             f"are {config.local_memory * _KIB} (local_memory={config.local_memory})",
                             kind=CapacityError)
    first = LOCAL_BASE - (1 << WORD.bits)
    _replace(function, {operand: Constant(first + places[operand.name] + operand.offset)
                        for operand in _used(function, variables)})


def _replace(function: Function, addresses: Mapping[Global, Value]) -> None:
    for i in function.instructions():
        i.operands = [addresses.get(operand, operand) if isinstance(operand, Global) else operand
                      for operand in i.operands]


def lower_local_to_global(function: Function, module: Module, config: Config) -> tuple[str, ...]:
    """Let local memory be places in global memory; returns the names of the parameters that a kernel got for that.

    Atomic operations there become routines if ``config`` lacks one of the ``module``'s. Raises CompileError where
    they cannot.
    """
    parameters: tuple[str, ...] = ()
    if function.is_kernel:
        lock = _lock_operations(function) if locks(function, module, config) else None
        parameters = _in_region(function, module.local_variables, lock)
    for call in function.instructions():
        if call.op is Op.CALL and (name := atomic_name(call)) is not None:
            atomic_opcode(function, call, name, config)
    function.result = _moved(function.result)
    function.parameters = [(name, _moved(type)) for name, type in function.parameters]
    for i in function.instructions():
        i.type, i.types = _moved(i.type), [_moved(type) for type in i.types]
    return parameters


def _moved(type: Type) -> Type:
    if type.fields and type.kind == "vector":
        return replace(type, fields=(_moved(type.fields[0]),))
    return replace(type, space=_GLOBAL_POINTER.space) if type.kind == "ptr" and type.space == LOCAL_SPACE else type


def _lock_operations(kernel: Function) -> Local:
    """Make calls of routines of the atomic operations; where the lock will be."""
    b = Builder(kernel)
    b.start(Instruction(Op.GETELEMENTPTR, name="lock"))
    lock = Local(b.name())
    for block in kernel.blocks.values():
        made: list[Instruction] = []
        for i in block.instructions:
            opcode = local_atomic(i)
            if opcode is None:
                made.append(i)
                continue
            b.start(i)
            _locked(b, i, opcode, lock)
            made += b.made
        block.instructions = made
    return lock


def _locked(b: Builder, call: Instruction, opcode: Opcode, lock: Local) -> None:
    """What ``call`` does, by a routine that needs the lock."""
    operands, types = call.operands[1:], call.types[1:]
    if not operands:
        operands, types = [Constant(-1 if "dec" in call.callee else 1)], [WORD]
    elif "sub" in call.callee:
        operands = [b.add(Op.SUB, Constant(0), operands[0])]
    b.call("fgpu_lock", lock, type=VOID, types=[_GLOBAL_POINTER])
    b.append(Instruction(Op.CALL, call.type, name=call.name, callee=f"fgpu_locked_{opcode.name[1:].lower()}",
                         operands=[lock, call.operands[0], *operands],
                         types=[_GLOBAL_POINTER, _GLOBAL_POINTER, *types]))
    b.call("fgpu_unlock", lock, type=VOID, types=[_GLOBAL_POINTER])


def _in_region(kernel: Function, variables: Mapping[str, LocalVariable], lock: Local | None) -> tuple[str, ...]:
    """Add the address of the work-group's region to the kernel's variables, to its ``lock`` and to its arguments."""
    places = _layout(kernel, variables)
    arguments = [name for name, type in kernel.parameters if type.kind == "ptr" and type.space == LOCAL_SPACE]
    if not places and not arguments:
        return ()
    regions, size = map(Local, PARAMETERS)
    b = Builder(kernel)
    b.start(Instruction(Op.GETELEMENTPTR, name="local", location=kernel.location))

    def behind(base: Value, offset: Value) -> Value:
        return b.append(Instruction(Op.GETELEMENTPTR, _GLOBAL_POINTER, operands=[base, offset],
                                    types=[_GLOBAL_POINTER, WORD], source=BYTE))

    region = behind(regions, b.add(Op.MUL, b.call(PLACE), size))
    values: dict[str, Value] = {name: behind(region, Local(name)) for name in arguments}
    substitute(kernel.instructions(), values)
    addresses: dict[Global, Value] = {}
    for operand in dict.fromkeys(_used(kernel, variables)):
        addresses[operand] = behind(region, Constant(places[operand.name] + operand.offset))
    _replace(kernel, addresses)
    if lock is not None:
        place = local_place(kernel.local_bytes, WORD.size)
        kernel.local_bytes = place + _LOCK_BYTES
        behind(region, Constant(place))
        b.made[-1].name = lock.name
        b.call("fgpu_lock_begin", lock, type=VOID, types=[_GLOBAL_POINTER])
        b.call(BARRIERS[0], Constant(1), type=VOID)
    entry = next(iter(kernel.blocks.values()))
    entry.instructions[:0] = b.made
    kernel.parameters = [(name, WORD if name in arguments else type) for name, type in kernel.parameters]
    kernel.parameters += [(PARAMETERS[0], _GLOBAL_POINTER), (PARAMETERS[1], WORD)]
    return PARAMETERS
