"""Small measured files, read whole but never without bound."""

from pathlib import Path

from simulator.errors import UserError

MOST_BYTES = 64 << 20


def read_small_text(path: Path) -> str:
    """A regular file's UTF-8 text, a byte-order mark left out. UserError, one line, for anything else."""
    try:
        if path.exists() and not path.is_file():
            raise UserError(f"{path}: not a regular file")
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise UserError(f"{path}: {size} bytes, allowed are at most {MOST_BYTES}")
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UserError(f"{path}: cannot read it: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 text, see byte {error.start}") from error
