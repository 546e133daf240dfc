"""The kernels' interfaces in clang's output."""

import re
from typing import Final, Literal, get_args

from llvmlite import binding as llvm

from fgpu.errors import CompileError

from ..interface import Interface, KernelParameter
from .metadata import Metadata, unescaped
from .reader import structs_by_value
from .types import TypeReader

__all__ = ["read_interfaces"]

_KERNEL: Final = re.compile(r'define .*\bspir_kernel void @([\w.$]+|"[^"]*")\(')
_VECTOR: Final = re.compile(r" __attribute__\(\(ext_vector_type\((\d+)\)\)\)")
_HINT: Final = re.compile(r"(?:<(\d+) x )?(\w+)>? \w+, i32 (\d)")
_SCALARS: Final = {"i8": "char", "i16": "short", "i32": "int", "i64": "long"}
_Space = Literal["private", "global", "constant", "local"]
_SPACES: Final[tuple[_Space, ...]] = get_args(_Space)


def read_interfaces(bitcode: bytes) -> tuple[Interface, ...]:
    """The kernels in a module, in the order of the source."""
    try:
        with llvm.parse_bitcode(bitcode, llvm.create_context()) as module:
            return tuple(_interfaces(module))
    except (RuntimeError, ValueError, KeyError, IndexError) as error:
        raise CompileError(f"cannot read the IR that clang made: {error!r}") from error


def _interfaces(module: llvm.ModuleRef) -> list[Interface]:
    lines = str(module).splitlines()
    headers = {unescaped(match[1].strip('"')): line for line in lines if (match := _KERNEL.match(line))}
    if not headers:
        return []
    nodes = [line for line in lines if line.startswith("!")]
    values = Metadata(nodes).values()
    texts = {line.partition(" = ")[0]: line for line in nodes}
    types = TypeReader(line for line in lines if re.match(r"%.* = type ", line))
    found = []
    for name, header in headers.items():
        of = {key: values.get(node, []) for key, node in re.findall(r"!(\w+) (!\d+)", header)}
        by_value = structs_by_value(header)
        sizes = types.spelled([struct for struct, _ in by_value if struct])
        arguments = list(module.get_function(name).arguments)
        parameters = tuple(
            _parameter(number, of, str(argument.type),
                       sizes[struct].size if struct else types.of(argument.type).size, bool(struct))
            for number, (argument, (struct, _)) in enumerate(zip(arguments, by_value, strict=True)))
        size = of.get("reqd_work_group_size")
        hint = re.search(r"!vec_type_hint (!\d+)", header)
        found.append(Interface(
            name, parameters, None if not size else (int(size[0]), int(size[1]), int(size[2])),
            _attributes(of, texts.get(hint[1], "") if hint else "")))
    return found


def _parameter(number: int, of: dict[str, list[str]], text: str, size: int, is_struct: bool) -> KernelParameter:
    def known(key: str) -> str:
        return of.get(f"kernel_arg_{key}", [""] * (number + 1))[number]

    space: _Space = "private" if is_struct else _SPACES[int(known("addr_space") or 0)]
    kind: Literal["value", "pointer", "local", "image", "sampler"] = "value"
    if 'target("spirv.Image"' in text:
        kind = "image"
    elif 'target("spirv.Sampler"' in text:
        kind = "sampler"
    elif text.startswith("ptr") and not is_struct:
        kind = "local" if space == "local" else "pointer"
    return KernelParameter(known("name"), known("type"), _VECTOR.sub(r"\1", known("base_type")), kind, size, space,
                           known("access_qual"), known("type_qual"))


def _attributes(of: dict[str, list[str]], hint: str) -> str:
    found = [f"{name}({','.join(of[name])})" for name in ("reqd_work_group_size", "work_group_size_hint")
             if of.get(name)]
    if match := _HINT.search(hint):
        lanes, scalar, signed = match.groups()
        name = _SCALARS.get(scalar, scalar)
        unsigned = "u" if scalar in _SCALARS and signed == "0" else ""
        found.append(f"vec_type_hint({unsigned}{name}{lanes or ''})")
    return " ".join(found)

