"""Random OpenCL C programs without undefined behaviour, and implementations that are not ours to compare with.

:mod:`.program` holds what all statements share; each statement is one function, registered by
:func:`~.program.statement`, in the modules after it. To add one, add a function. :mod:`.host` is the oracle that
every installation has, :mod:`.pocl` the one that some have. ``python -m tests.compiler.fuzz.reduce SEED`` makes a
program that fails small. Programs whose seed begins with ``together`` have barriers and local memory.
"""
