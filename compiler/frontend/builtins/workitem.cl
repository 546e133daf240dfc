/* 6.12.1: what is no instruction of the machine. */
#include "builtins.h"

size_t OVERLOAD get_num_groups(uint dimension) { return get_global_size(dimension) / get_local_size(dimension); }
