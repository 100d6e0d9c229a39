// The simulated web app: a click asks the simulator what to send, and sends it as the real web app would.
"use strict";
(() => {
  const page = window.WIZ_global_data;
  const app = document.getElementById("app");
  if (!app) return;
  const account = page.QrtxK === "0" ? {} : { authuser: page.QrtxK };
  const FORM = "application/x-www-form-urlencoded;charset=UTF-8";
  const CONTEXT = "[2,null,[1],[1,null,null,null,null,null,null,null,null,null,[1,3]]]";
  let requests = 47_000;

  // What is sent

  async function orderFor(name) {
    const query = new URLSearchParams({ name, notebook: app.dataset.notebook, ...account });
    const response = await fetch(`/simulated/action?${query}`);
    if (!response.ok) throw new Error(`no order: ${response.status}`);
    return response.json();
  }

  /** Posts an order; each frame is handed over as it arrives. Gives status and size. */
  function send(order, take) {
    requests += 100_000;
    const { rt, ...own } = order.query;
    const known = { bl: page.cfb2h, "f.sid": page.FdrFJe, hl: document.documentElement.lang, _reqid: requests };
    const query = new URLSearchParams({ ...own, ...known, rt, ...account });
    // XMLHttpRequest, as the web app's own framework: Chrome reports a fetch whose stream was read out as cancelled
    const request = new XMLHttpRequest();
    request.open("POST", `${order.path}?${query}`);
    request.setRequestHeader("content-type", FORM);
    request.setRequestHeader("x-same-domain", "1");
    request.setRequestHeader("x-goog-ext-525006520-jspb", CONTEXT);
    return new Promise((resolve, reject) => {
      let read = 0;
      const advance = () => {
        if (request.status !== 200) return;
        const whole = request.responseText.lastIndexOf("\n") + 1;
        const lines = request.responseText.slice(read, whole).split("\n");
        read = Math.max(read, whole);
        try {
          for (const line of lines) if (line.startsWith("[")) for (const frame of JSON.parse(line)) take(frame);
        } catch (error) {
          reject(error);
        }
      };
      request.onprogress = advance;
      request.onload = () => {
        advance();
        resolve({ status: request.status, size: request.responseText.length });
      };
      request.onerror = () => reject(new TypeError("the connection failed"));
      request.send(`f.req=${encodeURIComponent(order.f_req)}&at=${encodeURIComponent(page.SNlM0e)}&`);
    });
  }

  /** The same request with its only call's row changed; gives the row. */
  function edit(order, change) {
    const outer = JSON.parse(order.f_req);
    const [holder, at] = outer[0] === null ? [outer, 1] : [outer[0][0], 1];
    const row = JSON.parse(holder[at]);
    change(row);
    holder[at] = JSON.stringify(row);
    order.f_req = JSON.stringify(outer);
    return row;
  }

  // What comes back

  /** Every reply's row, by id; throws where a call was refused that is not known for it. */
  async function answered(order, watch) {
    const rows = new Map();
    let said = "";
    const { status, size } = await send(order, (frame) => {
      if (frame[0] === "er") throw new Error(`error ${frame[5]}`);
      if (frame[0] !== "wrb.fr") return;
      const [, id, text, , , refusal] = frame;
      const code = refusal?.[0] ?? 0;
      if (code !== (order.expected[id] ?? 0)) throw new Error(`status ${code}`);
      if (code) said = `, status ${code} as always`;
      const row = text ? JSON.parse(text) : null;
      rows.set(id, row);
      watch(row);
    });
    if (status !== 200) throw new Error(`HTTP ${status}`);
    if (!rows.size) throw new Error("no reply");
    return { rows, said: `${status}, ${size.toLocaleString("en")} characters${said}` };
  }

  // The forms

  const FORMS = {
    ask: {
      fill: (row, fields) => (row[1] = fields.question.value),
      watch: (row, fields) => {
        if (!row?.[0]?.[0]) return;
        fields.answer.textContent = row[0][0];
        fields.answer.dataset.snapshots = 1 + Number(fields.answer.dataset.snapshots ?? 0);
      },
    },
    "add-text": { fill: (row, fields) => (row[0][0][1] = [fields.title.value, fields.content.value]) },
    "register-file": {
      fill: (row, fields) => {
        if (fields.file.files.length) row[0][0][0] = fields.file.files[0].name;
      },
      then: async (rows, row, fields) => {
        const [file] = fields.file.files;
        if (!file) return "";
        await upload(file, row[1], [...rows.values()][0][0][0][0][0]);
        return `, ${file.size.toLocaleString("en")} bytes uploaded`;
      },
    },
  };

  async function upload(file, notebook, source) {
    const common = { "content-type": FORM, "x-goog-authuser": page.QrtxK };
    const started = await fetch(`/upload/_/?authuser=${encodeURIComponent(page.QrtxK)}`, {
      method: "POST",
      headers: {
        ...common,
        "x-goog-upload-command": "start",
        "x-goog-upload-header-content-length": String(file.size),
        "x-goog-upload-header-content-type": file.type || "text/plain",
        "x-goog-upload-protocol": "resumable",
      },
      body: JSON.stringify({ PROJECT_ID: notebook, SOURCE_NAME: file.name, SOURCE_ID: source }),
    });
    if (!started.ok) throw new Error(`upload refused: ${started.status}`);
    const finished = await fetch(started.headers.get("x-goog-upload-url"), {
      method: "POST",
      headers: { ...common, "x-goog-upload-command": "upload, finalize", "x-goog-upload-offset": "0" },
      body: file,
    });
    if (!finished.ok) throw new Error(`upload failed: ${finished.status}`);
  }

  // A click

  async function act(button) {
    if (button.dataset.state === "busy") return;
    const output = button.parentElement.querySelector("output");
    const form = FORMS[button.dataset.action] ?? {};
    const fields = button.form?.elements;
    const show = (state, text) => {
      output.textContent = text;
      button.dataset.state = state;
    };
    show("busy", "…");
    try {
      const order = await orderFor(button.dataset.action);
      const row = form.fill ? edit(order, (found) => form.fill(found, fields)) : null;
      const { rows, said } = await answered(order, (found) => form.watch?.(found, fields));
      show("done", said + ((await form.then?.(rows, row, fields)) ?? ""));
    } catch (error) {
      show("failed", error.message);
    }
  }

  app.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-action]");
    if (button?.type === "button") act(button);
  });
  app.addEventListener("submit", (event) => {
    event.preventDefault();
    act(event.target.querySelector("button[data-action]"));
  });
  document.documentElement.dataset.app = "ready";
})();
