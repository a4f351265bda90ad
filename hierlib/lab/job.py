"""A job: one page with every value settled. All that a process, here or on another machine, needs to run it.

This module imports next to nothing, because the process that runs a page starts with it.
"""

from typing import Any, NamedTuple


class Job(NamedTuple):
    """What `hierlib.lab.page.make_job` settles: a page's notebook (as JSON), its values, and the key of its result."""

    page: str
    profile: str
    parameters: dict[str, Any]
    standard: bool  # the book's own numbers: no parameter was changed but perhaps the device
    data: list[str]
    claims: dict[str, str]
    key: str
    modules: str
    notebook: str
