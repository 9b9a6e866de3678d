"""`python -m dagora` is the command `dagora`."""

from dagora.cli.main import main

if __name__ == "__main__":
    main()
