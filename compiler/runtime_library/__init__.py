"""What the machine has no instruction for, as routines in OpenCL C that the compiler calls."""
