"""The notebooks of a build, executed two at a time before a page is read."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from time import time

import nbformat
from jupyter_cache.executors.utils import ExecutionResult, single_nb_execution
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

_LOG = logging.getLogger(__name__)


def execute(executed: dict[str, ExecutionResult], app: Sphinx, env: BuildEnvironment, pages: list[str]) -> None:
    """Execute the notebooks, with what is woven into them, those with the most code first."""
    config, notebooks = env.mystnb_config, {}
    for page in pages if config.execution_mode == "force" else ():
        if (path := Path(env.doc2path(page))).suffix == ".ipynb":
            text = [path.read_text("utf-8")]
            app.emit("source-read", page, text)
            notebooks[page] = nbformat.reads(text[0], as_version=4)
    longest = sorted(notebooks, key=lambda page: -sum(len(x.source) for x in notebooks[page].cells if "outputs" in x))

    def run(page: str) -> ExecutionResult:
        folder = str(Path(env.doc2path(page)).parent)
        rules = {"timeout": config.execution_timeout, "allow_errors": config.execution_allow_errors}
        result = single_nb_execution(notebooks[page], folder, **rules)
        _LOG.info("%s: executed in %.0f s", page, result.time)
        return result

    with ThreadPoolExecutor(2) as pool:
        executed |= zip(longest, pool.map(run, longest), strict=True)


def insert(executed: dict[str, ExecutionResult], app: Sphinx, page: str, source: list[str]) -> None:
    """Read the executed notebook; one that took too long, or may not fail and did, is executed again and reported."""
    result = executed.pop(page, None)
    if result and not result.err:
        result.nb.metadata["mystnb"] = {"execution_mode": "off"}
        source[0] = nbformat.writes(result.nb)
        told = {"mtime": time(), "runtime": result.time, "method": "force", "succeeded": True, "traceback": None}
        NbMetadataCollector.set_exec_data(app.env, page, told)


def setup(app: Sphinx) -> None:
    """Register the extension."""
    executed: dict[str, ExecutionResult] = {}
    app.connect("env-before-read-docs", partial(execute, executed))
    app.connect("source-read", partial(insert, executed), priority=999)
