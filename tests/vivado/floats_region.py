"""A core's Verilog in which the floating-point units are a region that can be loaded with others."""

import re
from collections.abc import Mapping
from pathlib import Path

from fgpu.config import Config
from fgpu.tools.verilog import to_verilog, write_float_units

__all__ = ["with_region"]

_MODULE = r"^module \\fgpu\.floats (?P<ports>\(.*?\);)\n(?P<body>.*?)^endmodule\n"
_DECLARED = re.compile(r"^  (?P<way>input|output) (?:\[(?P<high>\d+):0\] )?(?P<name>\w+);", re.MULTILINE)


def with_region(config: Config, contents: Mapping[str, frozenset[str]], folder: Path) -> str:
    """The core's Verilog, whose module ``floats`` has in it what the register ``loaded`` says: the number of one of
    ``contents``, 0 the first, or with a greater number what is there while a bitstream is loaded, ones. Without
    operations it is nothing, and its outputs are zero."""
    text = to_verilog(config)
    [original] = re.finditer(_MODULE, text, re.MULTILINE | re.DOTALL)
    ports = [(each["way"], int(each["high"] or 0) + 1, each["name"]) for each in _DECLARED.finditer(original["body"])]
    outputs = [(width, name) for way, width, name in ports if way == "output"]
    lines = [f"module \\fgpu.floats ({', '.join(name for *_, name in ports)});",
             *(f"  {way} [{width - 1}:0] {name};" for way, width, name in ports),
             "  reg [7:0] loaded /*verilator public_flat_rw*/;", "  initial loaded = 0;"]
    chosen = {name: f"{{{width}{{1'b1}}}}" for width, name in outputs}
    modules = []
    for number, (content, operations) in enumerate(contents.items()):
        for width, name in outputs:
            lines.append(f"  wire [{width - 1}:0] {content}__{name};")
            chosen[name] = f"loaded == {number} ? {content}__{name} : {chosen[name]}"
            if not operations:
                lines.append(f"  assign {content}__{name} = 0;")
        if operations:
            lines.append(f"  \\{content} {content} (" + ", ".join(
                f".{name}({content}__{name})" if way == "output" else f".{name}({name})" for way, _, name in ports)
                + ");")
            path = write_float_units(config.replace(float_ops=operations), folder / f"{content}.v", name=content)
            modules.append(path.read_text())
    lines += [f"  assign {name} = {value};" for name, value in chosen.items()]
    region = "\n".join([*lines, "endmodule\n"])
    return text[:original.start()] + region + text[original.end():] + "".join(modules)
