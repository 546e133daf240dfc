"""What launches took, in a file that the environment names."""

import json
from pathlib import Path

from fgpu import Device, compile_opencl
from fgpu.opencl.device_list import offers

_SOURCE = """
kernel void count(global int *a) { a[get_global_id(0)] += 1; }
kernel void loop(global int *a, int n) {
    for (int i = 0; i < n; i++) a[get_global_id(0)] += i;
}
"""
_PROGRAM = f"""
import sys, numpy as np, pyopencl as cl
[device] = cl.get_platforms()[0].get_devices(cl.device_type.GPU)
context = cl.Context([device])
queue = cl.CommandQueue(context)
program = cl.Program(context, {_SOURCE!r}).build()
buffer = cl.Buffer(context, 0, 4096)
program.count(queue, (1024,), (128,), buffer)
program.loop(queue, (8, 16), None, buffer, np.int32(9))
queue.finish()
"""


def test_every_launch_is_a_line_with_the_work_of_a_devices_own(opencl_icd, tmp_path: Path) -> None:
    log = tmp_path / "launches"
    opencl_icd.python(_PROGRAM, environment={"FGPU_OPENCL_LAUNCHES": str(log)})
    first, second = map(json.loads, log.read_text().splitlines())
    with Device(offers()[0].config, engine="functional") as device:
        image = compile_opencl(_SOURCE, config=device.config)
        buffer = device.buffer(1024)
        wanted = [device.launch(image, kernel="count", global_size=1024, local_size=128, args=[buffer]),
                  device.launch(image, kernel="loop", global_size=(8, 16), args=[buffer, 9])]
    for line, run in zip((first, second), wanted, strict=True):
        assert (line["kernel"], line["instructions"], line["work_item_instructions"], line["cycles"]) == \
            (run.kernel, run.instructions, run.work_item_instructions, None)
        assert line["device"] == "FGPU functional 4 CUs"
        assert line["seconds"] > 0
    assert (first["global_size"], first["local_size"], second["global_size"]) == ([1024], [128], [8, 16])

    opencl_icd.python(_PROGRAM, environment={"FGPU_OPENCL_LAUNCHES": str(log)})
    assert len(log.read_text().splitlines()) == 4


def test_a_file_that_cannot_be_written_is_told_once(opencl_icd, tmp_path: Path) -> None:
    done = opencl_icd.python(_PROGRAM, environment={"FGPU_OPENCL_LAUNCHES": str(tmp_path)})
    [line] = done.stderr.splitlines()
    assert line.startswith("fgpu: FGPU_OPENCL_LAUNCHES names a file that cannot be written: ")
    assert str(tmp_path) in line
