"""``nmt mcp``: a Model Context Protocol server, so that assistants translate with models of this machine.

    pairs       the models by their languages, each loaded when it is first asked
    glossaries  files of terms, by name
    tools       what the tools do
    server      the tools over the protocol: standard input and output, or HTTP

The protocol is that of the package ``mcp``: https://modelcontextprotocol.io.
"""
