"""From what the user typed to pages and jobs, or to a sentence that says what is wrong with it."""

from typing import Any

from hierlib.lab.project import Project, UserError, nearest
from hierlib.lab.registry import Paper, load_registry


def load(project: Project, claims: list[str] | None = None) -> tuple[dict[str, Paper], list[Any]]:
    """The registry, and the pages that the given names mean."""
    from hierlib.lab.page import load_pages

    registry = load_registry(project)
    pages = load_pages(project, registry)
    names: dict[str, list[str]] = {page: [page] for page in pages}
    for paper in registry.values():
        names[paper.paper] = [page for page in pages if page.startswith(f"{paper.paper}/")]
        for entry in paper.claims:
            names.setdefault(f"{paper.paper}/{entry.id}", [f"{paper.paper}/{entry.page}"] if entry.page else [])
    chosen: dict[str, None] = {}
    for claim in claims or list(pages):
        if claim not in names:
            raise UserError(f"there is no claim {claim!r}; {nearest(claim, names, 'claims')}")
        if not names[claim]:
            raise UserError(f"no page tests {claim} yet; `hier new {claim}` starts one")
        chosen |= dict.fromkeys(names[claim])
    return registry, [pages[page] for page in chosen]


def jobs_for(
    project: Project, pages: list[Any], profile: str, device: str, assignments: list[str] | None = None, here: bool = True
) -> list[Any]:
    """Settle the parameters of every page before anything runs. `here`: on this machine, which must have the device."""
    from hierlib.lab.page import make_job, parse_value

    check_device(device, here)
    jobs = []
    for page in pages:
        overrides = dict(parse_value(page, assignment) for assignment in assignments or [])
        if device != "cpu" and "device" in page.parameters:
            overrides.setdefault("device", device)
        jobs.append(make_job(project, page, profile, overrides))
    return jobs


def check_device(device: str, here: bool) -> None:
    if device not in ("cpu", "cuda"):
        raise UserError(f"there is no device {device!r}; the devices are cpu, cuda")
    if device == "cpu" or not here:
        return
    import torch

    if not torch.cuda.is_available():
        raise UserError("--device cuda: torch sees no GPU on this machine; leave the option out to run on the CPU")
