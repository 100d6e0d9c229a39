"""The simulator's pages: bootstrap values, sign-in in all its states, the gate, the hosts."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import pytest

from nlm_cdp.api.notebooks import notebooks
from nlm_cdp.sim.actions import BATCHES, NAMED
from nlm_cdp.wire import page
from nlm_cdp.wire.batchexecute import PATH, Call, f_req, form, read_replies
from tests.sim.conftest import Got

pytestmark = pytest.mark.realtime
LIST = Call("wXbhsf", notebooks.ListNotebooks().encode())


async def test_the_app_page_holds_the_bootstrap_values(running) -> None:
    async with running() as (sim, client):
        got = await client.request("GET", "/")
        account = sim.service.owner
        assert got.status == 200
        assert got.header("x-nlm-simulated") == "1"
        assert page.value(got.text, page.TOKEN) == account.token
        assert page.value(got.text, page.SESSION_ID) == account.session_id
        assert int(account.session_id) < 0
        assert page.value(got.text, page.BUILD) == page.value(got.text, page.BUILD_FALLBACK) == sim.service.build
        assert page.value(got.text, page.AUTHUSER) == "0"
        assert page.value(got.text, page.EMAIL) == "owner@simulated.example"
        assert len(page.value(got.text, "S06Grb") or "") == 21
        assert page.value(got.text, "Im6cmf") == "/_/LabsTailwindUi"
        assert account.token.rpartition(":")[2].isdigit()
        assert "Simulation." in got.text
        assert "About this simulation" in got.text


async def test_a_title_is_text_in_the_page(running) -> None:
    async with running() as (sim, client):
        notebook = sim.service.owner.add_notebook('<script>"x"</script>')
        assert "<script>&quot;x" not in (await client.request("GET", "/")).text
        shown = (await client.request("GET", f"/notebook/{notebook.id}")).text
        assert "&lt;script&gt;" in shown
        assert page.value(shown, page.TOKEN) == sim.service.owner.token


async def test_the_page_signs_in_with_cookies_that_scripts_cannot_read(running) -> None:
    async with running(signed_in=False) as (_, client):
        got = await client.request("GET", "/")
        cookies = [value for name, value in got.headers if name == "set-cookie"]
        assert len(cookies) == 3
        assert all("; Secure; HttpOnly" in cookie and "Domain=.google.com" in cookie for cookie in cookies)
        again = await client.request("GET", "/")
        assert again.header("set-cookie") is None


async def test_a_browser_is_led_here_for_every_host(running) -> None:
    async with running() as (sim, client):
        assert sim.chrome_flags == [
            f"--host-resolver-rules=MAP * 127.0.0.1:{sim.port}",
            f"--ignore-certificate-errors-spki-list={sim.spki}",
        ]
        elsewhere = await client.request("GET", "/", host="update.googleapis.com")
        assert (elsewhere.status, elsewhere.header("x-nlm-simulated")) == (404, "1")
        assert (await client.request("POST", "/", body=b"x")).status == 405
        assert (await client.request("HEAD", "/")).body == b""
        assert (await client.request("GET", "/manifest.json")).status == 404


async def test_authuser_chooses_the_account_by_index_or_address(running) -> None:
    async with running() as (sim, client):
        for named in ("1", "second@simulated.example"):
            got = await client.request("GET", f"/?authuser={named}")
            assert page.value(got.text, page.AUTHUSER) == "1"
            assert page.value(got.text, page.TOKEN) == sim.service.accounts["1"].token
            assert "About this simulation" not in got.text
        nobody = await client.request("GET", "/?authuser=7")
        assert page.landing(nobody.header("location") or "") is page.Landing.SIGNED_OUT


async def test_signed_out_by_redirect(running) -> None:
    async with running() as (sim, client):
        sim.service.sign_out("redirect")
        got = await client.request("GET", "/")
        assert got.status == 302
        assert page.landing(got.header("location") or "") is page.Landing.SIGNED_OUT
        there = await client.request("GET", "/ServiceLogin", host=page.SIGN_IN_HOST)
        decoy = page.value(there.text, page.TOKEN)
        assert decoy
        assert decoy != sim.service.owner.token
        assert (await client.post(LIST)).status == 401


async def test_signed_out_by_landing_page(running) -> None:
    async with running() as (sim, client):
        sim.service.sign_out("landing", rpc="status")
        got = await client.request("GET", "/")
        assert got.status == 200
        assert page.value(got.text, page.TOKEN) is None
        assert "landing-header-signin" in got.text
        login = await client.request("GET", "/login")
        assert page.landing(login.header("location") or "") is page.Landing.SIGNED_OUT
        status = read_replies((await client.post(LIST)).body).of("wXbhsf").status
        assert status is not None
        assert status.code == 16


async def test_signing_in_again_needs_the_page_read_anew(running) -> None:
    async with running() as (sim, client):
        sim.service.sign_out()
        sim.service.sign_in()
        assert (await client.request("GET", "/login")).header("location") == "/"
        assert (await client.post(LIST)).status == 401
        await client.sign_in()
        assert (await client.post(LIST)).status == 200


async def test_the_gate(running) -> None:
    async with running() as (sim, client):
        sim.service.gate()
        got = await client.request("GET", "/")
        assert (got.status, got.header("location")) == (302, "https://notebook.google/?location=unsupported")
        assert page.landing(got.header("location") or "") is page.Landing.GATED
        assert (await client.request("GET", "/?location=unsupported", host="notebook.google")).status == 200
        sim.service.gate(on=False)
        assert (await client.request("GET", "/")).status == 200


async def test_the_older_host_moved_but_still_answers_calls(running) -> None:
    async with running() as (sim, client):
        older = page.APP_HOSTS[1]
        got = await client.request("GET", "/?authuser=1", host=older)
        assert (got.status, got.header("location")) == (302, "https://notebook.google.com/?authuser=1")
        assert (await client.post(LIST, host=older)).status == 200
        sim.service.moved = False
        assert (await client.request("GET", "/", host=older)).status == 200


async def test_robots_is_text_on_every_app_host_or_leads_to_the_app(running) -> None:
    async with running() as (sim, client):
        for host in page.APP_HOSTS:
            got = await client.request("GET", "/robots.txt", host=host)
            assert (got.status, got.header("content-type")) == (200, "text/plain; charset=utf-8")
        sim.service.light_redirects = True
        assert (await client.request("GET", "/robots.txt")).header("location") == "/"


async def test_a_call_needs_cookie_origin_and_token(running) -> None:
    async with running() as (_, client):
        body = form(f_req([LIST]), client.at).encode()
        target = client.target(PATH, rpcids="wXbhsf")

        async def status(headers: dict[str, str], at: bytes = body, to: str = target) -> int:
            got: Got = await client.request("POST", to, headers=headers, body=at)
            return got.status

        assert await status(client.same_origin) == 200
        assert await status({"origin": "https://notebook.google.com"}) == 200
        assert await status({"sec-fetch-site": "same-origin"}) == 200
        assert await status({}) == 403
        assert await status({**client.same_origin, "origin": "https://evil.example"}) == 403
        assert await status({**client.same_origin, "sec-fetch-site": "cross-site"}) == 403
        assert await status(client.same_origin, form(f_req([LIST]), "").encode()) == 400
        assert await status(client.same_origin, b"f.req=nonsense") == 400
        assert await status(client.same_origin, to=target.replace("rt=c", "rt=b")) == 400
        assert await status(client.same_origin, to=client.target(PATH, rpcids="rLM1Ne")) == 400
        client.cookies.clear()
        assert await status(client.same_origin) == 401


async def test_a_rotated_token_makes_the_old_one_stale(running) -> None:
    async with running() as (sim, client):
        sim.service.rotate_token()
        assert (await client.post(LIST)).status == 400
        await client.sign_in()
        assert (await client.post(LIST)).status == 200


# What can be clicked


class Buttons(HTMLParser):
    """The actions a page offers, and every script without a nonce."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.actions: list[str] = []
        self.shown: list[str] = []
        self.unsigned = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        if tag == "button":
            self.actions.append(said["data-action"] or "")
        self.unsigned += tag == "script" and said.get("nonce") != "simulated"
        if said.get("id") == "app":
            self.shown.append(said["data-notebook"] or "")


async def test_every_action_has_one_button_on_both_pages(running) -> None:
    async with running() as (sim, client):
        notebook = next(iter(sim.service.owner.notebooks))
        for path, shown in (("/", ""), (f"/notebook/{notebook}", notebook)):
            got = await client.request("GET", path)
            buttons = Buttons(got.text)
            assert sorted(buttons.actions) == sorted([*NAMED, *BATCHES])
            assert buttons.shown == [shown]
            assert buttons.unsigned == 0
            assert "require-trusted-types-for" in (got.header("content-security-policy") or "")
            assert "innerHTML" not in got.text


async def test_only_the_signed_in_app_can_be_clicked(running) -> None:
    async with running() as (sim, client):
        sim.service.sign_out("landing")
        assert Buttons((await client.request("GET", "/")).text).actions == []
        assert Buttons((await client.request("GET", "/", host=page.SIGN_IN_HOST)).text).actions == []


async def test_what_a_click_sends_is_told_to_the_page_alone(running) -> None:
    async with running() as (sim, client):
        notebook = next(iter(sim.service.owner.notebooks))
        target = f"/simulated/action?name=get-notebook&notebook={notebook}"
        got = await client.request("GET", target, headers=client.same_origin)
        order = json.loads(got.body)
        assert order["path"] == PATH
        assert order["query"] == {"rpcids": "rLM1Ne", "source-path": f"/notebook/{notebook}", "rt": "c"}
        assert sim.service.owner.token not in got.text
        assert (await client.request("GET", target)).status == 403
        cross = {"sec-fetch-site": "cross-site"}
        assert (await client.request("GET", target, headers=cross)).status == 403
        nothing = await client.request("GET", "/simulated/action?name=nothing", headers=client.same_origin)
        assert nothing.status == 404
        client.cookies.clear()
        assert (await client.request("GET", target, headers=client.same_origin)).status == 401


async def test_without_a_notebook_a_click_makes_one(running) -> None:
    async with running(seed=False) as (sim, client):
        got = await client.request("GET", "/simulated/action?name=ask&notebook=", headers=client.same_origin)
        (notebook,) = sim.service.owner.notebooks.values()
        assert notebook.id in json.loads(got.body)["f_req"]
        assert notebook.sources
