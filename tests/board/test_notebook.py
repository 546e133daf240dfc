"""examples/notebook: in simulation as it is, and on a board by one line."""

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from fgpu.board.boards import board
from fgpu.config import Config
from fgpu.sim.board.simulated import SimulatedBoard

NOTEBOOK = Path(__file__).parents[2] / "examples" / "notebook" / "kernels.ipynb"
LINE = "device = Device()"
# As the notebook says, but for the times of a simulated line.
ON_BOARD = ("from fgpu.board.link import Link; "
            "device = Device(engine='board', port=Link({port!r}, timeout=5.0, silence=0.5))")


def notebook() -> Any:
    return nbformat.read(NOTEBOOK, as_version=4)


def execute(book: Any, folder: Path) -> str:
    """What its cells print; the pictures must be there, too."""
    NotebookClient(book, timeout=600, resources={"metadata": {"path": str(folder)}}).execute()
    outputs = [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 1
    return "".join(output.get("text", "") for output in outputs)


def test_one_line_chooses_and_no_output_is_checked_in() -> None:
    cells = [cell for cell in notebook().cells if cell.cell_type == "code"]
    assert "".join(cell.source for cell in cells).count("Device(") == cells[0].source.count(LINE) == 1
    assert not any(cell.outputs or cell.execution_count for cell in cells)


@pytest.mark.ci
def test_in_simulation(tmp_path: Path) -> None:
    text = execute(notebook(), tmp_path)
    assert "cycles for 1,024 sums" in text
    assert "cycles for 64 x 48 pixels" in text


@pytest.mark.ci
def test_on_a_board(tmp_path: Path) -> None:
    book = notebook()
    with SimulatedBoard(board("ulx3s_85f"), Config.preset("tiny")) as simulated:
        cell = book.cells[1]
        cell.source = cell.source.replace(LINE, ON_BOARD.format(port=simulated.port))
        text = execute(book, tmp_path)
        assert simulated.state.reads > 1024
    assert "cycles for 64 x 48 pixels" in text
