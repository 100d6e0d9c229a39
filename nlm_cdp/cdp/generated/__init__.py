# Written by tools/generate_cdp.py with PyCDP's generator, from tools/protocol/allow.toml; do not edit.

from nlm_cdp.cdp.shape import EventClass

from . import browser, dom, fetch, io, inspector, network, page, runtime, target

COMMANDS = frozenset({
    "Browser.getVersion",
    "DOM.setFileInputFiles",
    "Fetch.continueRequest",
    "Fetch.enable",
    "Fetch.failRequest",
    "Fetch.takeResponseBodyAsStream",
    "IO.close",
    "IO.read",
    "Inspector.enable",
    "Network.configureDurableMessages",
    "Network.enable",
    "Network.getRequestPostData",
    "Network.getResponseBody",
    "Page.createIsolatedWorld",
    "Page.enable",
    "Page.getFrameTree",
    "Page.navigate",
    "Runtime.addBinding",
    "Runtime.callFunctionOn",
    "Runtime.enable",
    "Runtime.evaluate",
    "Runtime.releaseObject",
    "Target.attachToTarget",
    "Target.closeTarget",
    "Target.createTarget",
    "Target.detachFromTarget",
    "Target.getTargets",
})

EVENTS: dict[str, type[EventClass]] = {
    "Fetch.requestPaused": fetch.RequestPaused,
    "Inspector.detached": inspector.Detached,
    "Inspector.targetCrashed": inspector.TargetCrashed,
    "Network.loadingFailed": network.LoadingFailed,
    "Network.loadingFinished": network.LoadingFinished,
    "Network.requestWillBeSent": network.RequestWillBeSent,
    "Network.responseReceived": network.ResponseReceived,
    "Page.frameNavigated": page.FrameNavigated,
    "Page.javascriptDialogClosed": page.JavascriptDialogClosed,
    "Page.javascriptDialogOpening": page.JavascriptDialogOpening,
    "Runtime.bindingCalled": runtime.BindingCalled,
    "Runtime.executionContextsCleared": runtime.ExecutionContextsCleared,
    "Target.detachedFromTarget": target.DetachedFromTarget,
}
