"""A core in the address space of the processor that this runs on: by UIO, ``/dev/mem`` or PYNQ (``docs/zynq.md``)."""
