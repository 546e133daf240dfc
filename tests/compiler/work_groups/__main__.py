"""Writes what PoCL computes: ``python -m tests.compiler.work_groups``."""

import json

from .launches import DIGESTS, FILES, digest, launches
from .models import MODELS
from .on_pocl import on_pocl


def main() -> None:
    made = {}
    for file in FILES:
        for launch in launches(file):
            if launch.name not in MODELS:
                made[str(launch)] = digest(on_pocl(launch))
    DIGESTS.write_text(json.dumps(made, indent=0) + "\n")
    print(f"{len(made)} launches")


if __name__ == "__main__":
    main()
