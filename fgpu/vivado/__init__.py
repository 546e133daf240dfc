"""The core as an IP for AMD's Vivado, and as a part of a Zynq-7000 (``docs/zynq.md``)."""
