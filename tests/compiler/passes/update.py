"""``python -m tests.compiler.passes.update [NAME...]``: the passes' files expect what comes out now."""

import sys

from .filetest import EXPECT, FILES, apply, parts


def main(names: list[str]) -> None:
    for path in FILES:
        if not names or path.stem in names:
            given, expected = parts(path)
            made = apply(given, path.name)
            if made != expected:
                path.write_text(f"{given.rstrip()}\n\n{EXPECT}\n{made}", encoding="utf-8")
                print(f"{path.name}: written")


if __name__ == "__main__":
    main(sys.argv[1:])
