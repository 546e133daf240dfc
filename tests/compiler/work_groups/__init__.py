"""Kernels whose work-items work together, with barriers and local memory: OpenCL C in ``*.cl``, each without a race.

A comment in the file launches a kernel::

    // run NAME GLOBAL/LOCAL[+OFFSET]: ARGUMENT, ARGUMENT ...

Sizes have up to three dimensions (``64x4``). An argument is ``out TYPE COUNT`` (a buffer that begins with a
pattern), ``zero TYPE COUNT``, ``in TYPE COUNT`` (random values; ``in TYPE COUNT below N``), ``local BYTES`` or
``value TYPE N``. ``{a b}`` stands for one line with each, and ``$`` in the line for what was chosen.

What all buffers must hold afterwards is in ``digests.json``, as PoCL computes it: ``python -m
tests.compiler.work_groups`` writes that file. Kernels in which some work-items return before a barrier, which OpenCL
leaves open, have a model in Python in :mod:`.models`.
"""
