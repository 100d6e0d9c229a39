"""The allow-list is the promise that no credential leaves Chrome; here it is held against what was generated from it."""

from __future__ import annotations

import importlib.util
import inspect
import json
import pkgutil
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from nlm_cdp.cdp import generated
from nlm_cdp.cdp.generated import COMMANDS, EVENTS, dom, fetch, io, network, page, runtime, target
from nlm_cdp.cdp.shape import OpenEnum

ROOT = Path(__file__).parents[2]
ALLOW = tomllib.loads((ROOT / "tools/protocol/allow.toml").read_text(encoding="utf-8"))
SOURCES = {path.name: path.read_text(encoding="utf-8") for path in Path(generated.__file__).parent.glob("*.py")}
MODULES = [import_module(f"{generated.__name__}.{found.name}") for found in pkgutil.iter_modules(generated.__path__)]
WRITTEN = {name for source in SOURCES.values() for name in re.findall(r'yield \{"method": "([\w.]+)"', source)}

FORBIDDEN = re.compile(
    r"""
    (Input|Storage|DOMStorage|IndexedDB|CacheStorage|Database|FileSystem|WebAuthn|Autofill|FedCm|Extensions|PWA)\.
    | .*[Cc]ookie
    | .*ExtraInfo$                      # events that carry the Cookie header
    | Browser\.(close|crash|crashGpuProcess|setPermission|grantPermissions|executeBrowserCommand|setDownloadBehavior)
    | Target\.(setAutoAttach|autoAttachRelated|exposeDevToolsProtocol|sendMessageToTarget|activateTarget)
    | Target\.(attachToBrowserTarget|disposeBrowserContext|setRemoteLocations)
    | (Page|Emulation)\.(close|crash|handleJavaScriptDialog|addScriptToEvaluateOnNewDocument|setDocumentContent|set\w+)
    | Page\.(captureScreenshot|captureSnapshot|printToPDF|startScreencast|getResourceContent)
    | Fetch\.(fulfillRequest|getResponseBody|continueResponse|continueWithAuth)
    | DOM\.(?!setFileInputFiles$)
    | IO\.resolveBlob
    | Network\.(setExtraHTTPHeaders|setUserAgentOverride|clearBrowserCache|loadNetworkResource)
    """,
    re.VERBOSE,
)


def test_what_can_be_sent_and_read_is_the_list_and_each_entry_has_a_reason() -> None:
    assert set(ALLOW["commands"]) == COMMANDS == WRITTEN
    assert set(ALLOW["events"]) == set(EVENTS)
    for name, entry in (ALLOW["commands"] | ALLOW["events"]).items():
        assert len(entry["why"]) > 15, name
        assert "\n" not in entry["why"], name


@pytest.mark.parametrize("name", sorted(COMMANDS | set(EVENTS)))
def test_nothing_reads_credentials_acts_as_the_user_or_closes_the_browser(name: str) -> None:
    assert not FORBIDDEN.match(name)


def test_the_pattern_knows_what_it_forbids() -> None:
    for name in ("Network.getCookies", "Storage.getCookies", "Network.setCookie", "Input.dispatchKeyEvent"):
        assert FORBIDDEN.match(name)
    for name in ("Browser.close", "Network.responseReceivedExtraInfo", "DOMStorage.getDOMStorageItems", "Page.crash"):
        assert FORBIDDEN.match(name)


@pytest.mark.parametrize(
    ("command", "parameters"),
    [
        (target.create_target, {"url", "browser_context_id", "background", "hidden"}),
        (target.get_targets, set()),
        (page.create_isolated_world, {"frame_id", "world_name"}),  # not grantUniveralAccess
        (dom.set_file_input_files, {"files", "object_id"}),
        (fetch.continue_request, {"request_id"}),  # on as it is, or not at all
        (network.enable, {"max_total_buffer_size", "max_resource_buffer_size", "max_post_data_size"}),
        (fetch.enable, {"patterns"}),  # not handleAuthRequests
        (io.read, {"handle", "size"}),
        (page.enable, set()),
        (runtime.add_binding, {"name", "execution_context_name"}),
    ],
)
def test_parameters_that_widen_a_command_cannot_be_sent(command, parameters: set[str]) -> None:
    assert set(inspect.signature(command).parameters) == parameters


@pytest.mark.parametrize("word", ["cookie", "grantUniveralAccess", "includeCommandLineAPI", "password", "deprecated"])
def test_words_that_are_nowhere_in_the_generated_code(word: str) -> None:
    assert not any(word.lower() in source.lower() for source in SOURCES.values())


def test_the_titles_of_the_users_tabs_and_the_text_of_dialogs_are_not_read() -> None:
    info = {"targetId": "T", "type": "page", "url": "u", "attached": False, "title": "private"}
    assert "private" not in repr(target.TargetInfo.from_json(info))
    dialog = {"url": "u", "frameId": "F", "type": "prompt", "hasBrowserHandler": True, "message": "private"}
    assert "private" not in repr(page.JavascriptDialogOpening.from_json(dialog))
    closed = {"frameId": "F", "result": True, "userInput": "private"}
    assert "private" not in repr(page.JavascriptDialogClosed.from_json(closed))


def test_the_headers_of_a_paused_request_are_not_read() -> None:
    """Chrome puts the Cookie header into them."""
    request = {"url": "u", "method": "GET", "headers": {"Cookie": "private"}}
    paused = fetch.RequestPaused.from_json({"requestId": "R", "request": request, "frameId": "F"})
    assert "private" not in repr(paused)


def test_the_headers_of_recorded_traffic_are_not_read() -> None:
    """Cookies come in events of their own, which nothing subscribes to; what other headers hold stays unread too."""
    request = {"url": "u", "method": "POST", "headers": {"Authorization": "private"}, "postData": "f.req="}
    sent = {"requestId": "R", "request": request, "timestamp": 1, "wallTime": 1, "initiator": {"url": "private"}}
    assert "private" not in repr(network.RequestWillBeSent.from_json(sent))
    response = {
        "url": "u",
        "status": 200,
        "headers": {"Set-Cookie": "private"},
        "requestHeaders": {"Cookie": "private"},
    }
    assert "private" not in repr(network.ResponseReceived.from_json({"requestId": "R", "response": response}))
    assert not [name for name in EVENTS if "ExtraInfo" in name]


def test_enumerations_are_open() -> None:
    classes = [value for module in MODULES for value in vars(module).values() if inspect.isclass(value)]
    enums = [value for value in classes if issubclass(value, OpenEnum) and value is not OpenEnum]
    assert enums
    for enum in enums:
        assert enum.from_json("a word of tomorrow") == "a word of tomorrow"
        assert enum.from_json(next(iter(enum)).value) is next(iter(enum))
        with pytest.raises(TypeError):
            enum.from_json(None)  # type: ignore[arg-type]


def test_the_pruned_protocol_names_nothing_else() -> None:
    protocol = json.loads((ROOT / "tools/protocol/protocol.json").read_text(encoding="utf-8"))
    for kind in ("commands", "events"):
        found = {f"{domain['domain']}.{item['name']}" for domain in protocol["domains"] for item in domain[kind]}
        assert found == set(ALLOW[kind])
    assert not re.search(r'"(description|deprecated|experimental)":', json.dumps(protocol))
    assert ALLOW["source"]["version"] in protocol["source"]


@pytest.mark.skipif(importlib.util.find_spec("pycdp_old") is None, reason="python-cdp-old is not installed")
def test_the_generated_code_is_what_the_generator_writes() -> None:
    command = [sys.executable, str(ROOT / "tools/generate_cdp.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
