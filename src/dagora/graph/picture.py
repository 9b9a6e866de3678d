"""A picture that a notebook shows and that can be saved."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike

from dagora.base.errors import OptionError
from dagora.base.files import require_path, write_whole


@dataclass(frozen=True, repr=False)
class Picture:
    """An SVG.

    >>> Picture("<svg/>")
    Picture(6 characters of SVG: save it, or look at it in a notebook)
    """

    svg: str

    def save(self, path: str | PathLike[str]) -> None:
        """Write it to a file, which should end in .svg: pictures of other kinds are not made here."""
        if require_path(path).suffix.lower() != ".svg":
            raise OptionError(f"a picture is saved as .svg, not as {str(path)!r}")
        write_whole(path, self.svg)

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"Picture({len(self.svg)} characters of SVG: save it, or look at it in a notebook)"
