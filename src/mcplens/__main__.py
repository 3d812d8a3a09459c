"""`python -m mcplens`: the command line of the interpreter's own mcplens."""

from mcplens.cli.main import main

if __name__ == "__main__":
    main()
