"""An OpenCL 1.2 platform: host programs find the FGPU through the ICD loader and run unmodified.

A call comes from the loader to a trampoline in the C library (``library/``), which finds or starts a Python
interpreter and calls, through :mod:`.bridge`, the function of this package that :mod:`.entry` registered under the
API's name:

===========================  ===========================================================================
:mod:`.functions`            the API's functions: slots and parameters; the one table of both sides
:mod:`.enums`                the API's numbers
:mod:`.objects`              handles, reference counts, the lock of the API
:mod:`.entry`                what makes a Python function one of the API; exceptions become error codes
:mod:`.answers`              how ``clGet...Info`` answers
:mod:`.platforms`            the platform, :mod:`.device_list` which devices it has, :mod:`.devices` these,
                             :mod:`.device_info` what they can, :mod:`.sub_devices` parts of them, :mod:`.contexts`
                             contexts
:mod:`.queues`               command queues and their threads, :mod:`.commands` what these run, :mod:`.events` events,
                             :mod:`.synchronization` what orders commands, :mod:`.callbacks` the thread that calls the
                             host back
:mod:`.buffers`              memory objects, :mod:`.farewells` callbacks at their end, :mod:`.images` images
:mod:`.transfers`            what moves their content, :mod:`.rectangles` parts of it, :mod:`.maps` to the host
:mod:`.native_kernels`       the host's functions as commands
:mod:`.programs`             programs, :mod:`.builds` how they are built
:mod:`.kernels`              kernels and their arguments, :mod:`.launches` their launches
:mod:`.install`              where ICD loaders look for the library
===========================  ===========================================================================

All devices share one global memory, so that a buffer has the same address on each.
"""
