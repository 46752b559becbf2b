"""The links of a built site: every target, and every anchor in it, has to be there."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import click
from bs4 import BeautifulSoup

_LOADED = (
    *(("img", "src"), ("script", "src"), ("link", "href"), ("iframe", "src")),
    *(("source", "src"), ("source", "srcset")),
)
_NOT_FETCHED = {"canonical", "prev", "next", "alternate", "author"}


@dataclass(frozen=True, slots=True)
class Page:
    """What a page refers to: links, what it loads by itself, the anchors it has."""

    links: tuple[str, ...]
    loads: tuple[str, ...]
    anchors: frozenset[str]


@click.command(help=__doc__)
@click.argument("site", type=click.Path(path_type=Path, exists=True, file_okay=False))
def main(site: Path) -> None:
    """Print how many links there are; end with 1 where some are broken."""
    pages = read_site(site)
    complaints = list(find_broken(pages, site))
    links = sum(len(page.links) + len(page.loads) for page in pages.values())
    click.echo(f"{len(pages)} pages, {links} links, {len(complaints)} broken")
    if complaints:
        sys.exit("\n".join(complaints))


def read_site(site: Path) -> Mapping[str, Page]:
    """Every page below a folder, by its path there; the theme keeps templates in `_static`."""
    return {
        path.relative_to(site).as_posix(): read_page(path.read_text(encoding="utf-8"))
        for path in sorted(site.rglob("*.html"))
        if "_static" not in path.relative_to(site).parts
    }


def read_page(html: str) -> Page:
    """The links of a page, what it loads, and the anchors that links may lead to."""
    soup = BeautifulSoup(html, "html.parser")
    loads = [
        str(element[attribute])
        for name, attribute in _LOADED
        for element in soup.find_all(name)
        if element.get(attribute)
        and not set(element.get_attribute_list("rel")) & _NOT_FETCHED
        and not str(element[attribute]).startswith("data:")
    ]
    links = [str(element["href"]) for element in soup.find_all("a", href=True)]
    anchors = {str(element["id"]) for element in soup.find_all(id=True)}
    anchors |= {str(element["name"]) for element in soup.find_all("a", attrs={"name": True})}
    return Page(tuple(links), tuple(loads), frozenset(anchors))


def find_broken(pages: Mapping[str, Page], site: Path) -> Iterator[str]:
    """A sentence for each link that leads nowhere, and each thing a page would fetch elsewhere."""
    for name, page in pages.items():
        for target in page.loads:
            if urlsplit(target).scheme or target.startswith("//"):
                yield f"{name} loads {target}, and pages need no network."
            elif not (site / _path(name, target)).is_file():
                yield f"{name} loads {target}, which is not there."
        for target in page.links:
            if not urlsplit(target).scheme and not _leads_somewhere(name, target, pages, site):
                yield f"{name} links to {target}, which is not there."


def _leads_somewhere(name: str, target: str, pages: Mapping[str, Page], site: Path) -> bool:
    path, anchor = _path(name, target), unquote(urlsplit(target).fragment)
    if path not in pages:
        return not anchor and (site / path).is_file()
    # The theme's own link to the top of a page.
    return not anchor or anchor == "__skip" or anchor in pages[path].anchors


def _path(name: str, target: str) -> str:
    """The path that a page's link leads to, from the site's folder."""
    joined = urlsplit(
        urljoin(f"http://site/{name}", target) if urlsplit(target).path else f"http://site/{name}"
    )
    path = unquote(joined.path).removeprefix("/")
    return f"{path}index.html" if path.endswith("/") or not path else path


if __name__ == "__main__":
    main()
