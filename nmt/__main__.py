"""``python -m nmt``: the command line where the ``nmt`` script is not installed."""

from nmt.cli import main

if __name__ == "__main__":
    main()
