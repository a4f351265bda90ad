"""Text with $formulas$ as HTML and as Markdown, and numbers as people write them."""

import html
import re


def maths(text: str, escaped: bool = False) -> str:
    """Text with $maths$ and `code` for raw HTML, where MathJax looks for brackets of its own."""
    safe = text if escaped else html.escape(text, quote=False)
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", re.sub(r"\$([^$]+)\$", r"\\(\1\\)", safe))


def plain(text: str) -> str:
    """Text for a Markdown page, in which only formulas keep their `<`: a registry or a record may come from elsewhere."""
    return re.sub(r"\$[^$]+\$|<", lambda found: "&lt;" if found[0] == "<" else found[0], text)
