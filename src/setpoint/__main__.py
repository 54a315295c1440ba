"""`python -m setpoint` is the `setpoint` command."""

from setpoint.cli.app import main

if __name__ == "__main__":
    main()
