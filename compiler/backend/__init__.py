"""Machine code: from virtual registers in SSA form to instruction words."""
