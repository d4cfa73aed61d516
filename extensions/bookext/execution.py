"""The notebooks of a build, executed two at a time before a page is read."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from time import time

import nbformat
from myst_nb.sphinx_ import NbMetadataCollector
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError
from nbconvert.preprocessors import CoalesceStreamsPreprocessor
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

Executed = dict[str, tuple[str, float] | None]
"""A notebook with its outputs, and the seconds it took, of each page; or None."""

_LOG = logging.getLogger(__name__)


def execute(executed: Executed, app: Sphinx, env: BuildEnvironment, pages: list[str]) -> None:
    """Execute the notebooks, with what is woven into them, those with the most code first."""
    config, clients = env.mystnb_config, {}
    for page in pages if config.execution_mode == "force" else ():
        path = Path(env.doc2path(page))
        if path.suffix == ".ipynb" and not any(map(path.match, config.execution_excludepatterns)):
            text = [path.read_text("utf-8")]
            app.emit("source-read", page, text)
            rules = {"timeout": config.execution_timeout, "allow_errors": config.execution_allow_errors}
            rules |= {"record_timing": False, "resources": {"metadata": {"path": path.parent}}}
            clients[page] = NotebookClient(nbformat.reads(text[0], as_version=4), **rules)
    longest = sorted(clients, key=lambda page: -sum(len(x.source) for x in clients[page].nb.cells if "outputs" in x))

    def run(page: str) -> tuple[str, float] | None:
        start = time()
        try:
            notebook, _ = CoalesceStreamsPreprocessor().preprocess(asyncio.run(clients[page].async_execute()), {})
        except (CellExecutionError, CellTimeoutError):
            return None
        notebook.metadata["mystnb"] = {"execution_mode": "off"}
        _LOG.info("%s: executed in %.0f s", page, seconds := time() - start)
        return nbformat.writes(notebook), seconds

    with ThreadPoolExecutor(2) as pool:
        executed |= zip(longest, pool.map(run, longest), strict=True)


def insert(executed: Executed, app: Sphinx, page: str, source: list[str]) -> None:
    """Read the executed notebook; one that took too long, or may not fail and did, is executed again and reported."""
    if done := executed.pop(page, None):
        source[0], seconds = done
        data = {"mtime": time(), "runtime": seconds, "method": "force", "succeeded": True, "traceback": None}
        NbMetadataCollector.set_exec_data(app.env, page, data)


def setup(app: Sphinx) -> None:
    """Register the extension."""
    executed: Executed = {}
    app.connect("env-before-read-docs", partial(execute, executed))
    app.connect("source-read", partial(insert, executed), priority=999)
