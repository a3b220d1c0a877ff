"""`python -m eke`: the command line without its script, where that is not on the path."""

from eke.cli import main

if __name__ == "__main__":
    main()
