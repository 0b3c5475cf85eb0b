"""The steps of a case, the same for every Python client.

A case is one JSON argument: how to reach the server, and the steps in order. Each step with an outcome prints it as a line of JSON.
The program that starts this client judges the outcomes (`interop/src/peers`, `interop/src/hub`).
"""

import json
import sys
from pathlib import Path

import anyio
from jsonschema.validators import validator_for

CASE = json.loads(sys.argv[1])


def say(**outcome):
    print(json.dumps(outcome), flush=True)


class Answers:
    """How the client answers a request for its roots, and how often it was asked."""

    def __init__(self):
        self.asked = 0
        self.current = {"roots": []}

    async def next(self):
        """The URIs to answer with, or the code of an error."""
        self.asked += 1
        if self.current == "never":
            return await self.never()
        roots = [Path(root).as_uri() for root in self.current.get("roots", [])]
        return roots, self.current.get("error")

    async def never(self):
        await anyio.sleep_forever()


class News:
    """Whether the client was notified that the list of tools changed."""

    def __init__(self):
        self.event = anyio.Event()

    async def hear(self, message):
        """The SDK calls this for every message."""
        if getattr(getattr(message, "root", message), "method", "") == "notifications/tools/list_changed":
            self.event.set()


NEWS = News()


def refusal(client, result):
    """The data of a refusal. It is in `_meta` if it would not fit the tool's output schema."""
    return client.structured(result) or (result.meta or {}).get("rootward.dev/refusal")


async def read(client, path):
    """Calls the tool that reads a file. Returns the outcome."""
    try:
        result = await client.call_tool(CASE["tool"], {"path": path})
    except client.refusals as error:
        return {"error": error.error.code}
    text = result.content[0].text
    if not client.is_error(result):
        return {"text": text}
    refused = refusal(client, result)
    return {"code": refused["code"]} if refused else {"failed": text}


async def call(client, tool, progress=None):
    """Calls any tool. Returns the whole outcome."""
    try:
        result = await client.call_tool(tool["name"], tool["arguments"], progress_callback=progress)
    except client.refusals as error:
        return {"error": error.error.code}
    if client.is_error(result):
        return {"failed": result.content[0].text, "code": (refusal(client, result) or {}).get("code")}
    shown = [block.model_dump(mode="json", by_alias=True, exclude_none=True) for block in result.content]
    return {"shown": shown, "data": client.structured(result)}


async def call_during(client, tool, other):
    """Makes a call, and another one at its first progress notification. The first call ends only after the second."""
    began = anyio.Event()

    async def progress(*_):
        began.set()

    async def call_other():
        await began.wait()
        say(**await call(client, other))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(call_other)
        return await call(client, tool, progress)


async def take_back(client, tool):
    """Makes a call and cancels it at its first progress notification."""
    began = anyio.Event()

    async def progress(*_):
        began.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(call, client, tool, progress)
        await began.wait()
        await client.stop()
        tasks.cancel_scope.cancel()
    return {"gave_up": True}


async def describe(client, name):
    """The description of a tool. Fails if the schema of any tool is invalid."""
    NEWS.event = anyio.Event()
    tools = (await client.list_tools()).tools
    for tool in tools:
        for schema in client.schemas(tool):
            validator_for(schema).check_schema(schema)
    return {"description": next(tool.description for tool in tools if tool.name == name)}


async def names(client, count):
    """Lists the tools until there are `count`: slow servers add theirs late. Returns their names and the number of lists."""
    lists = 0
    while True:
        NEWS.event = anyio.Event()
        lists += 1
        listed = [tool.name for tool in (await client.list_tools()).tools]
        if len(listed) >= count:
            return {"names": listed, "lists": lists}
        # A modern client is notified of changes only if it subscribes, so it polls.
        with anyio.move_on_after(1):
            await NEWS.event.wait()


async def read_beside_list(client, answers, path):
    """Reads a file, and lists the tools meanwhile: a call that waits for roots must not block one that needs none."""
    outcomes = []

    async def call():
        outcomes.append(await read(client, path))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(call)
        while not answers.asked:
            await anyio.sleep(0.01)
        listed = await client.list_tools()
        say(listed=CASE["tool"] in [tool.name for tool in listed.tools], waiting=not outcomes)
        with anyio.move_on_after(CASE["patience"]):
            while not outcomes:
                await anyio.sleep(0.01)
        tasks.cancel_scope.cancel()
    return outcomes[0] if outcomes else {"gave_up": True}


async def give_up(client, answers, path):
    """Makes a call and cancels it when the client is asked for its roots."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read, client, path)
        while not answers.asked:
            await anyio.sleep(0.01)
        tasks.cancel_scope.cancel()
    return {"gave_up": True}


async def run(client, answers):
    """Carries out the steps of the case."""
    for step in CASE["steps"]:
        if "answer" in step:
            answers.current = step["answer"]
        elif "announce" in step:
            await client.announce()
        elif "read" in step:
            say(**await read(client, step["read"]))
        elif "meanwhile" in step:
            say(**await call_during(client, step["call"], step["meanwhile"]))
        elif "call" in step:
            say(**await call(client, step["call"]))
        elif "take_back" in step:
            say(**await take_back(client, step["take_back"]))
        elif "describe" in step:
            say(**await describe(client, step["describe"]))
        elif "names" in step:
            say(**await names(client, step["names"]))
        elif "hear" in step:
            await NEWS.event.wait()
            say(heard=True)
        elif "read_beside_list" in step:
            say(**await read_beside_list(client, answers, step["read_beside_list"]))
        elif "give_up" in step:
            say(**await give_up(client, answers, step["give_up"]))
        elif "list" in step:
            listed = await client.list_tools()
            say(listed=CASE["tool"] in [tool.name for tool in listed.tools])
        else:
            raise ValueError(f"unknown step: {step}")
    say(asked=answers.asked, streams_refused=client.streams_refused())
