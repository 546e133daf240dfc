"""The Khronos conformance tests of OpenCL 1.2, group by group, on the FGPU's platform or on another: ``--help``."""
