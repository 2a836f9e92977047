"""The errors a user can cause; the command line prints each as plain lines and exits with status 2."""

LONGEST_LINE = 1000  # characters that a problem is told in


class UserError(Exception):
    """Something in the user's input or surroundings is wrong. The text is one line for each problem found; what would
    flood the terminal, such as a value of a megabyte, is cut out of the middle of its line."""

    def __init__(self, text: str = "") -> None:
        super().__init__("\n".join(map(shortened, text.split("\n"))))


def shortened(line: str) -> str:
    """A line of at most `LONGEST_LINE` characters, with its beginning and its end."""
    half = LONGEST_LINE // 2 - len(" ... ")
    return line if len(line) <= LONGEST_LINE else f"{line[:half]} ... {line[-half:]}"


class BugError(Exception):
    """The simulator contradicts itself. The text says in what, and how to see it again."""
