"""The language of what is generated, for the whole account; what the account shows afterwards is the truth."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from nlm_cdp.api.account.account import SET_LANGUAGE, SETTINGS, SetLanguage, settings
from nlm_cdp.api.writes import in_doubt
from nlm_cdp.errors import InvalidArgument, NlmError, Outcome, UnconfirmedWrite
from nlm_cdp.rpc import Args, Effect, Result, Scope, ToolContext, tool

CODE = re.compile(r"[A-Za-z]{2,3}([_-][A-Za-z0-9]{2,8})*")


def code(text: str) -> str:
    """Checked here and not by the schema, which a model has to read."""
    if CODE.fullmatch(text) is None:
        raise ValueError("no language code")
    return text


class LanguageResult(Result):
    """`needs_confirmation`: nothing was changed; `would` says what would happen."""

    status: Literal["done", "unchanged", "needs_confirmation"]
    language: str | None = None
    would: str | None = None


class LanguageArgs(Args):
    language: Annotated[str, AfterValidator(code)] = Field(description="code such as en or zh_Hans")
    confirm: bool = False


@tool(scope=Scope.WRITE, effect=Effect.SET, rpcs=(SETTINGS, SET_LANGUAGE))
async def set_output_language(ctx: ToolContext, args: LanguageArgs) -> LanguageResult:
    """Set the language of generated text and audio for the whole account."""
    now = (await settings(ctx)).language
    if now == args.language:
        return LanguageResult(status="unchanged", language=now)
    if not args.confirm:
        would = f"change the output language of the whole account from {now or 'the default'} to {args.language}"
        return LanguageResult(status="needs_confirmation", language=now, would=would)
    shown, doubt = None, None
    try:
        shown = (await ctx.call(SET_LANGUAGE, SetLanguage(language=args.language))).language
    except NlmError as exc:
        doubt = in_doubt(exc)
    if shown is None:
        shown = await read_back(ctx, doubt)
    if shown is None or plain(shown) != plain(args.language):
        raise (doubt or not_taken()).also(f"The account's output language is {shown or 'not set'}.")
    return LanguageResult(status="done", language=shown)


async def read_back(ctx: ToolContext, doubt: NlmError | None) -> str | None:
    """The language that the account has now, where the answer to setting it did not say."""
    try:
        return (await settings(ctx)).language
    except NlmError as exc:
        unsettled = doubt or UnconfirmedWrite("the service accepted the language", outcome=Outcome.UNKNOWN)
        raise unsettled.also(f"The account could not be read afterwards ({exc.code}).") from None


def not_taken() -> NlmError:
    hint = "Use the code of a language that the web app offers."
    return InvalidArgument("the service did not take this language", hint=hint, outcome=Outcome.REJECTED)


def plain(code: str) -> str:
    return code.replace("-", "_").casefold()
