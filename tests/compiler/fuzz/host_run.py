"""Runs the functions ``run_0``, ``run_1`` ... of a library, each with its arguments, in a process that may die.

How many work-items there are, how many in a work-group, and the arguments come pickled to the input; whether
work-groups run backwards is the command's second argument. Each result, the buffers afterwards, goes to the output
when it is there: its length in eight bytes, and pickled.
"""

import ctypes
import pickle
import sys

ALIGNMENT = 256


def main() -> None:
    library = ctypes.CDLL(sys.argv[1])
    for number, (items, group, arguments) in enumerate(pickle.load(sys.stdin.buffer)):
        kept = [ctypes.create_string_buffer(len(content) + ALIGNMENT) for content in arguments]
        places = [-(-ctypes.addressof(each) // ALIGNMENT) * ALIGNMENT for each in kept]
        for place, content in zip(places, arguments, strict=True):
            ctypes.memmove(place, content, len(content))
        library.host_run(library[f"run_{number}"], (ctypes.c_void_p * len(places))(*places), items, group,
                         int(sys.argv[2]))
        result = pickle.dumps([ctypes.string_at(place, len(content))
                               for place, content in zip(places, arguments, strict=True)])
        sys.stdout.buffer.write(len(result).to_bytes(8, "little") + result)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
