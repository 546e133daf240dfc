"""The test bench in C++ that both cycle-accurate engines share: memory, host, watchdog and counters."""
