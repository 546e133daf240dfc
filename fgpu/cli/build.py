"""Commands that make files: ``compile``, ``asm``, ``disasm`` and ``verilog``."""

from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from fgpu.config import Config
from fgpu.extras import demand

from .files import check_output, check_outputs, read_text, write_file
from .groups import command
from .options import compiler_options, config_options
from .programs import OPENCL, compile_file, load_image

__all__ = ["asm", "compile_", "disasm", "verilog"]

_FILE = click.argument("file", type=click.Path(path_type=Path))


def _output(help: str, required: bool = True) -> Any:
    return click.option("-o", "--output", type=click.Path(path_type=Path), required=required, metavar="OUT",
                        help=help)


def _report(image: Any, output: Path) -> None:
    """What is in the image that was written."""
    table = Table("kernel", "parameters", box=None, pad_edge=False)
    has_local = any(kernel.local_bytes for kernel in image.kernels.values())
    for title in ("entry", "instructions", "scratchpad words", *(["local bytes"] if has_local else [])):
        table.add_column(title, justify="right")
    for kernel in image.kernels.values():
        parameters = "unknown" if kernel.parameters is None else ", ".join(
            f"{p.type} {'*' if p.kind == 'pointer' else ''}{p.name}" for p in kernel.parameters)
        table.add_row(kernel.name, parameters, str(kernel.entry), str(kernel.instructions),
                      str(kernel.scratchpad_words), *([str(kernel.local_bytes)] if has_local else []))
    console = Console()
    if image.kernels:
        console.print(table)
    console.print(f"wrote {output}: {len(image.words)} instructions", highlight=False, soft_wrap=True)


def _list_passes(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        demand("fgpu compile", "opencl")
        from fgpu.compiler.observers import list_passes

        click.echo(list_passes(), nl=False)
        context.exit()


def _printers(before: tuple[str, ...], after: tuple[str, ...]) -> list[Any]:
    """What prints functions before and after passes of these names, if there are any."""
    if not before and not after:
        return []
    from fgpu.compiler.observers import Printer

    return [Printer(click.echo, before, after)]


@command("compile")
@_FILE
@_output("Image to write: .json (with kernels and parameters) or .mif (words only). Not needed where something is "
         "printed.", required=False)
@compiler_options
@click.option("--kernel", "kernels", multiple=True, metavar="NAME",
              help="Compile this kernel; may be repeated. Without it, all of the program's.")
@click.option("--listing", is_flag=True, help="Print the assembly, too.")
@click.option("--source", "with_source", is_flag=True, help="Print the assembly with the source lines beside it.")
@click.option("--print-before", "before", multiple=True, metavar="PASS",
              help="Print functions as they are before this pass, or all; may be repeated. Compiles anew.")
@click.option("--print-after", "after", multiple=True, metavar="PASS",
              help="Print functions as this pass, or all, left them; may be repeated. Compiles anew.")
@click.option("--list-passes", is_flag=True, is_eager=True, expose_value=False, callback=_list_passes,
              help="Print the compiler's passes in their order, and exit.")
@config_options()
def compile_(file: Path, output: Path | None, kernels: tuple[str, ...], listing: bool, with_source: bool,
             before: tuple[str, ...], after: tuple[str, ...], options: tuple[str, ...], config: Config) -> None:
    """Compile OpenCL C to a program image.

    The hardware options say what the program may use: its code RAM, scratchpad and stores.

    \b
    Examples:
      fgpu compile vec_add.cl -o vec_add.json --listing
      fgpu compile vec_add.cl --print-after select
    """
    demand("fgpu compile", "opencl")
    from fgpu.compiler import Sources, disassemble

    if file.suffix.lower() not in OPENCL:
        raise click.ClickException(f"{file} is not OpenCL C: its name must end in .cl")
    if output is None and not (listing or with_source or before or after):
        raise click.UsageError("give the image to write, -o OUT, or what to print, as --listing")
    image = compile_file(file, config, options, kernels, _printers(before, after))
    if output is not None:
        image.save(output)
    if listing or with_source:
        click.echo(disassemble(image, sources=Sources() if with_source else None))
    if output is not None:
        _report(image, output)


@command()
@_FILE
@_output("Image to write: .json or .mif.")
def asm(file: Path, output: Path) -> None:
    """Assemble a program.

    \b
    Example:
      fgpu asm copy.s -o copy.mif
    """
    from fgpu.compiler import assemble

    if file.suffix == ".cl":
        raise click.ClickException(f"{file} is OpenCL C, not assembly: fgpu compile {file}")
    image = assemble(read_text(file), filename=str(file))
    image.save(output)
    _report(image, output)


@command(short_help="Print the assembly of an image.")
@_FILE
@_output("Write the text to a file instead of the terminal.", required=False)
@click.option("--kernel", metavar="NAME", help="Print this kernel and the subroutines that it calls.")
@click.option("--source", "with_source", is_flag=True, help="Print the source lines beside their instructions.")
@compiler_options
@config_options()
def disasm(file: Path, output: Path | None, kernel: str | None, with_source: bool, options: tuple[str, ...],
           config: Config) -> None:
    """Print the assembly of an image (.mif, .json), or of what a .cl file compiles to.

    Source lines are comments, and come from the files that the image names, which are looked for where it was
    compiled.

    \b
    Examples:
      fgpu disasm copy.mif
      fgpu disasm scale.cl --kernel scale --source
    """
    from fgpu.compiler import Sources, disassemble

    if output is not None:
        check_outputs([("-o", output)], file)
    image = load_image(file, config, options, () if kernel is None else (kernel,))
    is_image = file.suffix.lower() in (".json", ".mif")
    sources = Sources(since=file.stat().st_mtime if is_image else None) if with_source else None
    text = disassemble(image, kernel, sources)
    if output is None:
        click.echo(text, nl=False)
    else:
        write_file(output, text)


@command()
@_output("Verilog file to write.")
@click.option("--float-units", is_flag=True, help="Only the floating-point units of a compute unit, as a module of "
              "their own: what cores with other --float-ops differ in.")
@config_options()
def verilog(output: Path, float_units: bool, config: Config) -> None:
    """Write the Verilog of an FGPU, for synthesis.

    \b
    Examples:
      fgpu verilog -o fgpu.v --cus 4
      fgpu verilog -o units.v --float-units --float-ops fadd --float-ops fmul
    """
    check_output(output)
    from fgpu.tools.verilog import write_float_units, write_verilog

    (write_float_units if float_units else write_verilog)(config, output)
    click.echo(f"wrote {output}")
