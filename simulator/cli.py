"""The command `shardsim`.

What a user or the machine is to blame for is told in plain lines, with exit status 2. The verbs are imported only
after Ctrl-C is taken care of.
"""

import io
import sys
from typing import NoReturn

from simulator import interrupt
from simulator.errors import BugError, UserError

BUG_STATUS = 70  # EX_SOFTWARE of sysexits.h


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        with interrupt.handled():
            from simulator.verbs.app import app

            app(standalone_mode=True)
    except UserError as error:
        fail(str(error))
    except BugError as error:
        fail(str(error), status=BUG_STATUS)
    except OSError as error:
        fail(f"{error.filename or 'output'}: {error.strerror or error}")
    except MemoryError as error:
        fail(f"not enough memory: {error}")


def fail(text: str, *, status: int = 2) -> NoReturn:
    """End with a status and plain lines."""
    print(text, file=sys.stderr)
    sys.exit(status)


if __name__ == "__main__":
    main()
