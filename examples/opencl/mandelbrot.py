"""Draws the Mandelbrot set with OpenCL: python mandelbrot.py [WIDTH [FILE]]. Nothing in here knows of fgpu."""

import sys
from pathlib import Path

import numpy as np
import pyopencl as cl

width = int(sys.argv[1]) if len(sys.argv) > 1 else 256
file = Path(sys.argv[2]) if len(sys.argv) > 2 else Path("mandelbrot.pgm")
height = width * 3 // 4

context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
program = cl.Program(context, Path(__file__).with_suffix(".cl").read_text()).build()

picture = np.empty((height, width), np.uint8)
buffer = cl.Buffer(context, cl.mem_flags.WRITE_ONLY, picture.nbytes)
event = program.mandelbrot(queue, (width, height), None, buffer, np.float32(-2.2), np.float32(1.2),
                           np.float32(3.2 / width), np.uint32(50))
cl.enqueue_copy(queue, picture, buffer, wait_for=[event])

file.write_bytes(b"P5 %d %d 255\n" % (width, height) + picture.tobytes())
print(f"{context.devices[0].name}: {file}, {(event.profile.end - event.profile.start) / 1e6:.2f} ms")
