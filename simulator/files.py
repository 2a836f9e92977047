"""Files are written whole or not at all."""

from pathlib import Path

from simulator.errors import UserError


def replace_file(path: Path, text: str) -> None:
    """Put `text` at `path` in one step. Raises UserError when it cannot be written; what was there stays."""
    partial = path.with_name(path.name + ".partial")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}") from error
