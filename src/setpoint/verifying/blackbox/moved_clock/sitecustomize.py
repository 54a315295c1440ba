"""Imported by Python at its start when a verification moves the clock of a command."""

import os
import pathlib

try:
    import time_machine
except ImportError:  # the command's own environment lacks it: its clock stays
    pass
else:
    time_machine.travel(os.environ["SETPOINT_VERIFY_CLOCK"], tick=True).start()
    pathlib.Path(os.environ["SETPOINT_VERIFY_MOVED"]).touch()
