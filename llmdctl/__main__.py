"""The console script: `llmdctl` and `python -m llmdctl`."""

from llmdctl.cli.main import main

if __name__ == "__main__":
    main()
