"""FastMCP's provider of skills over stdio: `python -m tests.servers.skills_fastmcp FOLDER`."""

import sys
from pathlib import Path

from fastmcp import FastMCP
from fastmcp.server.providers.skills import SkillsDirectoryProvider
from fastmcp.skills.extension import SkillsExtension

if __name__ == "__main__":
    provider = SkillsDirectoryProvider(
        roots=[Path(sys.argv[1])], supporting_files="resources", experimental_skills=True
    )
    server = FastMCP("skills", providers=[provider])
    server.add_extension(SkillsExtension(providers=[provider]))
    server.run(transport="stdio", show_banner=False)
