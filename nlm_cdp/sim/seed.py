"""The notebook that a simulator starts with: it is about the simulator itself."""

from __future__ import annotations

from nlm_cdp.sim.records import MARKDOWN, Notebook
from nlm_cdp.sim.state import Account

WHAT = """This service is a simulator. It stands in for Gemini Notebook so that programs run without an account.
It keeps its notebooks in memory and forgets them when it stops.
It has no network: a web page that is added to a notebook is made up from its address.
It has no language model: answers quote sentences of the sources that share words with the question.
"""

CAN = """# What the simulator can do
The simulator speaks the private protocol of the web app, with rows in the shape of recorded ones.
## Notebooks and sources
- Notebooks can be listed, created, renamed and deleted.
- Sources can be pasted texts, web pages and videos.
- A source from slow.example stays in processing for a while, and one from fail.example cannot be added.
## Chat
1. The question is compared with every passage of the chosen sources.
2. The best passages are quoted, and every citation carries its true offsets.
3. Follow-up questions are built from frequent words.
| Limit | Value |
| --- | --- |
| Sources in a notebook | 300 |
| Bytes of a question | 12,500 |
> Every answer says that it is simulated.
"""

FAULTS = """# Faults on request 🧪
Tests ask the simulator for faults: refusals, walls of HTML, cut connections, stale tokens and silence.
A fault is used up by the first request that it is meant for.
Offsets count UTF-16 units, which is why this source holds 🧪 a test tube and a naïve café.
Whether a write took effect before its answer was lost is decided by the test, and the simulator remembers it.
"""


def seed(account: Account) -> Notebook:
    notebook = account.add_notebook("About this simulation", emoji="🧪")
    account.add_source(notebook, "What this simulator is", WHAT)
    account.add_source(notebook, "What the simulator can do", CAN, kind=MARKDOWN)
    account.add_source(notebook, "Faults on request", FAULTS, kind=MARKDOWN)
    return notebook
