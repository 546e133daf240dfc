"""The C library under ICD loaders: pyopencl's own, and the system's."""


def test_pyopencl_lists_the_platform(opencl_icd):
    done = opencl_icd.python("import pyopencl\nfor platform in pyopencl.get_platforms():\n"
                             "    print(platform.name, platform.version, len(platform.get_devices()) > 0)")
    [line] = done.stdout.splitlines()
    assert line.startswith("FGPU OpenCL 1.2 fgpu ")
    assert line.endswith("True")
    assert not done.stderr

_LEAVES = """
import numpy, pyopencl
context = pyopencl.create_some_context(interactive=False)
source = numpy.arange(1000)
buffer = pyopencl.Buffer(context, pyopencl.mem_flags.READ_WRITE, source.nbytes)
event = pyopencl.enqueue_copy(pyopencl.CommandQueue(context), buffer, source, is_blocking=False)
"""


def test_what_a_python_program_leaves_at_its_end_is_no_error(opencl_icd):
    """pyopencl waits for the copy when Python has gone."""
    assert not opencl_icd.python(_LEAVES).stderr
