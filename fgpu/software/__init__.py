"""The C library of the core's host, for Linux and for programs without an operating system (``docs/zynq.md``)."""
