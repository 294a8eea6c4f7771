"""`python -m opbind`."""

from .cli import main

if __name__ == "__main__":
    main(prog_name="opbind")
