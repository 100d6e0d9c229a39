// The only code that runs in the page: in an isolated world, out of the page's sight and reach.
// It reads the page's tokens and spends them here; they never leave. Facts (keys, patterns, headers) come from Python.
(key, facts) => {
  const running = new Map();
  let tokens = null;

  const unescaped = (text) =>
    text
      .replace(/&(quot|amp|lt|gt|#39|#34);/g, (_, name) => ({ quot: '"', amp: "&", lt: "<", gt: ">", "#39": "'", "#34": '"' })[name])
      .replace(/\\(?:u|x)([0-9a-fA-F]{2,4})/g, (_, code) => String.fromCharCode(parseInt(code, 16)));

  const value = (html, name) => {
    const match = new RegExp(facts.patterns[name]).exec(html);
    return match && match[1] ? unescaped(match[1]) : null;
  };

  const account = facts.authuser ? { authuser: facts.authuser } : {};
  const simulated = (response) => response.headers.get("x-nlm-simulated") === "1";

  // The app page, read afresh: whether it is signed in, and what may be told of it.
  async function bootstrap() {
    const query = new URLSearchParams(account).toString();
    let response, html;
    try {
      response = await fetch("/" + (query && "?" + query), { redirect: "manual", cache: "no-store" });
      html = await response.text();
    } catch (error) {
      return { failed: error.name };
    }
    if (response.type === "opaqueredirect") return { redirected: true };
    const token = value(html, "token");
    const lang = /<html[^>]*\slang="([^"]+)"/.exec(html);
    tokens = token && {
      at: token,
      sid: value(html, "session_id") || "",
      bl: value(html, "build") || value(html, "build_fallback") || facts.build,
      hl: lang ? lang[1] : "en",
    };
    return {
      status: response.status,
      signed_in: Boolean(tokens),
      build: tokens && tokens.bl,
      authuser: value(html, "authuser"),
      email: tokens && value(html, "email"),
      user: tokens && value(html, "user"),
      simulated: simulated(response),
    };
  }

  // UTF-8 bytes as text that is one byte a character on the other side, too.
  const base64 = (text) =>
    new Promise((resolve, reject) => {
      const reader = new FileReader();
      reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(",") + 1));
      reader.onerror = () => reject(reader.error);
      reader.readAsDataURL(new Blob([text]));
    });

  // One request. `stream`: the body goes out piece by piece through the binding, and an end mark after it.
  async function call(id, { path, query, f_req, stream }) {
    if (!tokens) return { failed: "NoTokens", sent: false };
    const controller = new AbortController();
    running.set(id, controller);
    const emit = (message) => globalThis[`${key}_emit`](JSON.stringify({ id, ...message }));
    const answer = { sent: true };
    try {
      const all = new URLSearchParams({ ...query, bl: tokens.bl, "f.sid": tokens.sid, hl: tokens.hl, ...account });
      const response = await fetch(`${path}?${all}`, {
        method: "POST",
        redirect: "manual",
        headers: { "Content-Type": facts.content_type, "X-Same-Domain": "1" },
        body: `${new URLSearchParams({ "f.req": f_req, at: tokens.at })}&`,
        signal: controller.signal,
      });
      answer.status = response.status;
      answer.redirected = response.type === "opaqueredirect";
      answer.type = response.headers.get("content-type");
      answer.retry_after = response.headers.get("retry-after");
      if (!stream || !response.ok) {
        const body = await response.text();
        if (body.length > facts.largest) answer.failed = "TooLarge";
        else if (body.length > facts.large && /[^\x00-\x7f]/.test(body)) answer.base64 = await base64(body);
        else answer.body = body;
      } else {
        const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
        for (let piece; !(piece = await reader.read()).done; ) emit({ chunk: piece.value });
      }
    } catch (error) {
      answer.failed = error.name;
    } finally {
      running.delete(id);
      if (stream) emit({ end: true });
    }
    return answer;
  }

  function abort(id) {
    const controller = running.get(id);
    if (controller) controller.abort();
  }

  globalThis[key] = { bootstrap, call, abort, running };
}
