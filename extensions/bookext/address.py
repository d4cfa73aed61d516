"""Where the book is published: what pages and packages say of it follows from one line of `CITATION.cff`.

Until that line names a repository, what would lead there is left out.
"""

import posixpath
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

if TYPE_CHECKING:  # the package is built without Sphinx
    from sphinx.application import Sphinx
    from sphinx.config import Config

GITHUB = re.compile(r"https://github\.com/[A-Za-z0-9-]+/(?!.*\.git$)[\w.-]+")
LINK = re.compile(  # code is passed over
    r"""(?P<code>```.*?```|`[^`]*`)
      | !?\[(?P<words>(?:[^][]|\[[^][]*\])*)\]\((?!\w+:|\#)(?P<target>[^)\s]+)\)
      | (?P<before><img[ ]src=")(?!\w+:)(?P<picture>[^"]+)(?P<after>"[^>]*>)""",
    re.DOTALL | re.VERBOSE,
)
NAMED = re.compile(r"^.*\b(?:REPOSITORY|SITE)\b.*\n", re.MULTILINE)


class Address(NamedTuple):
    """The repository, empty until there is one, its version, and its pages in order, without endings."""

    repository: str
    version: str
    pages: tuple[str, ...]

    @property
    def site(self) -> str:
        """Where GitHub publishes the pages."""
        owner, name = self.repository.split("/")[-2:] if self.repository else ("", "")
        host = f"https://{owner.lower()}.github.io/"
        return owner and (host if host == f"https://{name.lower()}/" else f"{host}{name}/")

    def place(self, target: str, folder: str) -> str:
        """Return where the target of a link from a folder is read: on a page, or as a file of this version."""
        path, mark, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(folder, path))
        page = posixpath.splitext(path)[0]
        if page not in self.pages:
            return f"{self.repository}/blob/v{self.version}/{path}{mark}{anchor}"
        return f"{self.site}{page}.html{mark}{re.sub('-+', '-', anchor)}"  # a place on a page has single hyphens

    def absolute(self, text: str, folder: str = "") -> str:
        """Make the relative links of Markdown in a folder absolute; without an address only their words remain."""

        def link(found: re.Match) -> str:
            if found["code"] or not self.repository:
                return found["code"] or found["words"] or ""
            if found["picture"]:
                return f"{found['before']}{self.place(found['picture'], folder)}?raw=true{found['after']}"
            return f"[{found['words']}]({self.place(found['target'], folder)})"

        return LINK.sub(link, text)

    def filled(self, text: str) -> str:
        """Write the addresses for REPOSITORY and SITE/; without them, leave out the lines that name one."""
        if not self.repository:
            return NAMED.sub("", text)
        return NAMED.sub(lambda at: at[0].replace("REPOSITORY", self.repository).replace("SITE/", self.site), text)


@cache
def read(folder: Path) -> Address:
    """Read the address of the book in a folder."""
    citation = Path(folder, "CITATION.cff").read_text("utf-8")
    said = dict(re.findall(r"^(repository-code|version): *(\S+)", citation, re.MULTILINE))
    repository = said.get("repository-code", "")
    if repository and not GITHUB.fullmatch(repository):
        raise ValueError(f"repository-code is {repository}; expected https://github.com/ORGANIZATION/NAME")
    pages = re.findall(r"(?:file|root): (\S+)", Path(folder, "_toc.yml").read_text("utf-8"))
    return Address(repository, said["version"], tuple(pages))


def configure(app: "Sphinx", config: "Config") -> None:
    """Derive settings of Sphinx and of the theme."""
    address, options = read(app.srcdir), config.html_theme_options
    config.html_baseurl = config.ogp_site_url = address.site
    config.sitemap_url_scheme = "{link}"
    config.notfound_urls_prefix = urlsplit(address.site).path or "/"
    options["repository_url"] = address.repository
    for button in ("repository", "issues", "edit_page"):
        options[f"use_{button}_button"] = bool(address.repository)
    if not address.repository:
        options["launch_buttons"] = {}


def launch(app: "Sphinx", page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Start this version on Binder, and on Colab the copy that lies beside the pages, whose links are absolute."""
    colab = f"/blob/gh-pages/_sources/{page}.ipynb"
    buttons = [button for group in context.get("header_buttons", []) for button in group.get("buttons", [])]
    for button in buttons:
        if "url" in button:
            button["url"] = re.sub(r"/blob/main/.*", colab, button["url"])
            button["url"] = button["url"].replace("/main?", f"/v{read(app.srcdir).version}?")


def setup(app: "Sphinx") -> None:
    """Register the extension."""
    if read(app.srcdir).repository:
        app.setup_extension("sphinx_sitemap")
    app.connect("config-inited", configure)
    app.connect("source-read", lambda app, page, source: source.append(read(app.srcdir).filled(source.pop())))
    app.connect("html-page-context", launch, priority=502)
