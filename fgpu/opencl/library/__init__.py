"""The C library that an ICD loader opens: one trampoline for each function of the API, made from the table."""
