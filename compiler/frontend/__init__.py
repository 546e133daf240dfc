"""OpenCL C to IR: clang, the built-in functions, and the reader of LLVM's IR."""
