"""The functional engine in C++: the same as the one in NumPy bit for bit, and faster."""
