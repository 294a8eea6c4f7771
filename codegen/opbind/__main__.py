"""`python -m opbind`, and the command `opbind`."""

import atexit
import gc


def run() -> None:
    # A run keeps what it makes, all of it without cycles: looking for some takes a tenth of it, and
    # as much again at the end.
    gc.disable()
    atexit.register(gc.freeze)
    from .cli import main

    main(prog_name="opbind")


if __name__ == "__main__":
    run()
