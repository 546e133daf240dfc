"""The C library under ICD loaders: pyopencl's own, and the system's."""


def test_pyopencl_lists_the_platform(opencl_icd):
    done = opencl_icd.python("import pyopencl\nfor platform in pyopencl.get_platforms():\n"
                             "    print(platform.name, platform.version, len(platform.get_devices()) > 0)")
    [line] = done.stdout.splitlines()
    assert line.startswith("FGPU OpenCL 1.2 fgpu ")
    assert line.endswith("True")
    assert not done.stderr
