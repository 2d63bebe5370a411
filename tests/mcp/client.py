"""A client on the public SDK: lists the tools, writes a plan, and reads it back from a server that was started anew."""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters

STEPS = [
    {"id": "look", "title": "Look", "status": "completed"},
    {"id": "act", "title": "Act", "status": "in_progress", "dependsOn": ["look"]},
]


async def main(mode, server):
    async with server(mode) as client:
        listed = await client.list_tools()
        written = await client.call_tool("plan_write", {"plan": {"steps": STEPS}, "name": mode})
        refused = await client.call_tool("plan_write", {"plan": {"steps": STEPS * 2}, "name": mode})
        progress = []

        async def heard(now, total, message):
            progress.append(message)

        absent = await client.call_tool("plan_read", {"name": "nobody"}, progress_callback=heard)
    async with server(mode) as client:
        read = await client.call_tool("plan_read", {"name": mode})
        status = await client.call_tool("task_status", {})
    result = lambda result: {"isError": result.is_error, "said": json.loads(result.content[0].text)}
    return {
        "tools": [tool.name for tool in listed.tools],
        "written": result(written),
        "refused": result(refused),
        "absent": result(absent),
        "read": result(read),
        "structured": read.structured_content,
        "status": result(status),
    }


def over_stdio(program, directory):
    return lambda mode: Client(StdioServerParameters(command=program, args=["mcp", "--dir", directory]), mode=mode)


def over_http(url):
    return lambda mode: Client(url, mode=mode)


mode, way, *rest = sys.argv[1:]
server = {"stdio": over_stdio, "http": over_http}[way](*rest)
print(json.dumps(asyncio.run(main(mode, server))))
