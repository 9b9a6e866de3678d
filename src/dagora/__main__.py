"""`python -m dagora` is the command `dagora`."""

from dagora.cli import main

if __name__ == "__main__":
    main()
