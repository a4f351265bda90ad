"""From what the user typed to pages and jobs, or to a sentence that says what is wrong with it."""

from typing import NamedTuple

from hierlib.lab import imports
from hierlib.lab.job import Job, make_job
from hierlib.lab.page import Page, load_pages, page_names
from hierlib.lab.parameters import read_assignments
from hierlib.lab.project import Project, UserError, nearest
from hierlib.lab.registry import Paper, load_registry


class Request(NamedTuple):
    """How the chosen pages are to be run: the profile, the device, and parameters as `name=value`."""

    profile: str
    device: str = "cpu"
    assignments: tuple[str, ...] = ()

    def job(self, project: Project, page: Page) -> Job:
        """A page with its parameters settled and checked."""
        overrides = read_assignments(page.parameters, self.assignments, page.id)
        if self.device != "cpu" and "device" in page.parameters:
            overrides.setdefault("device", self.device)
        return make_job(project, page, self.profile, overrides)


def load(project: Project, claims: list[str] | None = None) -> tuple[dict[str, Paper], list[Page]]:
    """The registry, and the pages that the given names mean; the others are not even read."""
    registry = load_registry(project)
    pages = page_names(project, registry)
    names: dict[str, list[str]] = {page: [page] for page in pages}
    for paper in registry.values():
        names[paper.slug] = [page for page in pages if page.startswith(f"{paper.slug}/")]
        for entry in paper.claims:
            names.setdefault(f"{paper.slug}/{entry.id}", [f"{paper.slug}/{entry.page}"] if entry.page else [])
    chosen: dict[str, None] = {}
    for claim in claims or pages:
        if claim not in names:
            raise UserError(f"there is no claim {claim!r}; {nearest(claim, names, 'claims')}")
        if not names[claim]:
            raise UserError(f"no page tests {claim} yet; `hier new {claim}` starts one")
        chosen |= dict.fromkeys(names[claim])
    return registry, load_pages(project, registry, chosen)


def jobs_for(project: Project, pages: list[Page], request: Request, here: bool = True) -> list[Job]:
    """Settle the parameters of every page before anything runs. `here`: on this machine, which must have the device."""
    check_device(request.device, here)
    imports.recall(project.meanings)
    return [request.job(project, page) for page in pages]


def check_device(device: str, here: bool) -> None:
    if device not in ("cpu", "cuda"):
        raise UserError(f"there is no device {device!r}; the devices are cpu, cuda")
    if device == "cpu" or not here:
        return
    import torch

    if not torch.cuda.is_available():
        raise UserError("--device cuda: torch sees no GPU on this machine; leave the option out to run on the CPU")
