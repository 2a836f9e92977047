"""The errors a user can cause; the command line prints each as plain lines and exits with status 2."""


class UserError(Exception):
    """Something in the user's input or surroundings is wrong. The text is one line for each problem found."""


class StoppedError(Exception):
    """Ctrl-C. The text says how to go on, and is empty where there is nothing to go on from."""


def is_interrupt(error: BaseException) -> bool:
    """Whether Ctrl-C is behind an error: compiled code that it stops has a SystemError of its own on top."""
    behind: BaseException | None = error
    while behind is not None and not isinstance(behind, KeyboardInterrupt):
        behind = behind.__cause__ or behind.__context__
    return behind is not None
