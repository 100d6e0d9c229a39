// Files up, in the same isolated world as bridge.js; put there before the first file. Chrome sends a file straight from
// disk: it is named to an <input> that is in no document, and no byte of it passes through here.
(key) => {
  const bridge = globalThis[key];
  if (bridge.send) return;
  const inputs = new Map();

  function input(id) {
    const made = document.createElementNS("http://www.w3.org/1999/xhtml", "input");
    made.type = "file";
    inputs.set(id, made);
    return made;
  }

  const chosen = (id) => inputs.get(id).files[0];
  const size = (id) => (chosen(id) ? chosen(id).size : null);

  // A command of the upload protocol, without the file.
  async function command(id, url, headers, body) {
    const controller = new AbortController();
    bridge.running.set(id, controller);
    try {
      const response = await fetch(url, { method: "POST", redirect: "manual", headers, body, signal: controller.signal });
      return {
        status: response.status,
        redirected: response.type === "opaqueredirect",
        retry_after: response.headers.get("retry-after"),
        state: response.headers.get("x-goog-upload-status"),
        url: response.headers.get("x-goog-upload-url"),
      };
    } catch (error) {
      return { failed: error.name };
    } finally {
      bridge.running.delete(id);
    }
  }

  // The file's bytes; only XMLHttpRequest tells how many have left.
  function send(id, url, headers) {
    const request = new XMLHttpRequest();
    bridge.running.set(id, request);
    return new Promise((resolve) => {
      request.open("POST", url);
      for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
      request.upload.onprogress = (event) => globalThis[`${key}_emit`](JSON.stringify({ id, loaded: event.loaded }));
      request.onabort = () => resolve({ failed: "AbortError" });
      request.onerror = () => resolve({ failed: "NetworkError" });
      request.onload = () =>
        resolve({
          status: request.status,
          redirected: request.responseURL !== new URL(url, location.href).href,
          retry_after: request.getResponseHeader("retry-after"),
          state: request.getResponseHeader("x-goog-upload-status"),
        });
      request.send(chosen(id));
    }).finally(() => drop(id));
  }

  function drop(id) {
    bridge.running.delete(id);
    inputs.delete(id);
  }

  Object.assign(bridge, { input, size, command, send, drop });
}
