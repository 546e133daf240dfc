"""The time that profiling tells."""

import time

__all__ = ["DeviceTime"]


class DeviceTime:
    """A device's time, in nanoseconds: the host's, in which a simulation takes what its cycles take.

    It stands still while kernels are simulated and goes on from their end. So the times of different commands belong
    together: a command that waited for a simulated kernel waited as long as hardware would have had it wait. It never
    goes back. All methods are called with the API's lock.
    """

    def __init__(self) -> None:
        self._behind = 0        # the host's time
        self._reached = 0
        self._simulations: set[object] = set()

    def now(self) -> int:
        """The time."""
        if not self._simulations:
            self._reached = max(self._reached, time.monotonic_ns() - self._behind)
        return self._reached

    def stop(self, command: object) -> int:
        """Stand still from now on, for the simulation of a command; the time."""
        now = self.now()
        self._simulations.add(command)
        return now

    def go_on(self, command: object) -> None:
        """A command has ended. With the last one that was simulated the time goes on."""
        if command not in self._simulations:
            return
        self._simulations.remove(command)
        if not self._simulations:
            self._behind = time.monotonic_ns() - self._reached

    def reach(self, end: int) -> None:
        """A command ended then: those that follow begin no earlier."""
        self._reached = max(self._reached, end)
