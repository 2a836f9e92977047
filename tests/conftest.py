"""What holds for all tests."""

import signal

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts what runs in the background so, and commands would inherit that the tests interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)
