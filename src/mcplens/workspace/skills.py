"""The skills of one server of the workspace: the entries that were fetched, when, and by which way.

Nothing is fetched before a page asks for it, and no file is kept. Used by web/api/skills.py.
"""

from __future__ import annotations

from mcplens.clock import Clock
from mcplens.errors import InspectorError
from mcplens.protocol.skills import Skill, SkillList
from mcplens.session.client import Client


class ServerSkills:
    """What skills/list and skills/get gave for one server."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._of: Client | None = None  # entries of a former client are not used
        self.listed: SkillList | None = None
        self.fetched = 0.0  # when the list came; 0 before
        self._got: dict[str, Skill] = {}

    def __repr__(self) -> str:
        count = 0 if self.listed is None else len(self.listed)
        return f"<ServerSkills {count} listed, {len(self._got)} got>"

    async def fetch(self, client: Client, *, refresh: bool) -> SkillList:
        """The list; the kept one unless it is to be fetched again."""
        self._use(client)
        if self.listed is None or refresh:
            self.listed = await client.list_skills()
            self.fetched = self._clock.wall()
        return self.listed

    async def get(self, client: Client, uri: str) -> Skill:
        """The entry of one skill, fetched now."""
        self._use(client)
        skill = await client.get_skill(uri)
        self._got[uri] = skill
        return skill

    def listed_entry(self, uri: str) -> Skill | None:
        """The entry that the list had."""
        return next((skill for skill in self.listed or () if skill.uri == uri), None)

    def entry(self, client: Client, uri: str) -> Skill:
        """The entry that files are verified against: that of the list, else the one that was got.

        Raises:
            InspectorError: it was not fetched.
        """
        self._use(client)
        found = self.listed_entry(uri) or self._got.get(uri)
        if found is None:
            raise InspectorError("INVALID_REQUEST", f"the skill {uri} was not listed or got yet")
        return found

    def _use(self, client: Client) -> None:
        if client is not self._of:
            self._of, self.listed, self.fetched = client, None, 0.0
            self._got.clear()
