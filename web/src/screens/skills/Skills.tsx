// The skills of a server: the list with what is wrong, and the chosen skill beside it.
import { useState } from "react";
import { useNavigate, useSearchParams } from "react-router";
import type { ServerView, SkillView } from "../../api/types";
import { EmptyState } from "../../components/EmptyState";
import { ErrorNote } from "../../components/ErrorNote";
import { LIST_WIDTH, SplitPane } from "../../components/SplitPane";
import { DisconnectedBanner } from "../../servers/DisconnectedBanner";
import { NotConnected } from "../../servers/NotConnected";
import { pathTo, usePageLocation } from "../../state/navigation";
import { skillSettings } from "../../state/protocol";
import { useInspector } from "../../state/store";
import { FolderComparison } from "./FolderComparison";
import { SkillList } from "./SkillList";
import { SkillPanel } from "./SkillPanel";
import { UnlistedSkill } from "./UnlistedSkill";
import { type Skills as Loaded, useSkills } from "./useSkills";

interface ChosenProps {
  server: ServerView;
  skills: Loaded;
  item: string | null;
}

function Chosen({ server, skills, item }: ChosenProps) {
  const [got, setGot] = useState<SkillView | null>(null);
  const { list } = skills;
  if (item === null)
    return (
      <EmptyState icon="skills" title="Choose a skill">
        Its files, text and front matter appear here. Nothing of it is read before you ask for it.
      </EmptyState>
    );
  const listed = list?.skills.find(({ uri }) => uri === item);
  const skill = listed ?? (got?.uri === item ? got : null);
  if (skill)
    return <SkillPanel key={`${server.server_id} ${item}`} {...{ server, skill, skills }} />;
  if (!list) return <EmptyState icon="skills" title="Loading…" />;
  return <UnlistedSkill key={item} serverId={server.server_id} uri={item} onFound={setGot} />;
}

/** Keyed by its server: what one server answers late never counts for a skill of another. */
export function Skills() {
  const { server_id } = usePageLocation();
  return <SkillsOf key={server_id ?? ""} />;
}

function SkillsOf() {
  const { server_id, item } = usePageLocation();
  const serverId = server_id ?? "";
  const navigate = useNavigate();
  const server = useInspector((state) => state.servers.get(serverId));
  const skills = useSkills(server);
  const isConnected = server?.state === "CONNECTED";
  const [query] = useSearchParams();
  const isComparing = item === null && query.has("folder");
  if (!server || (!isConnected && !skills.list))
    return <NotConnected server={server} icon="skills" />;
  if (isConnected && skillSettings(server.capabilities) === undefined)
    return (
      <EmptyState icon="skills" title="This server offers no skills">
        It did not declare the extension io.modelcontextprotocol/skills.
      </EmptyState>
    );
  return (
    <div className="pane">
      <h1 className="sr">Skills of {serverId}</h1>
      <DisconnectedBanner server={server} />
      <SplitPane
        name="skills.list"
        label="Width of the list"
        {...LIST_WIDTH}
        narrow={item === null && !isComparing ? "first" : "second"}
        first={
          <div className="pane">
            {skills.error && <ErrorNote error={skills.error} title="The skills were not listed" />}
            <SkillList
              skills={skills}
              chosen={item}
              isConnected={isConnected}
              onChoose={(uri) => void navigate(pathTo(serverId, "skills", uri))}
              onCompare={() => void navigate(`${pathTo(serverId, "skills")}?folder`)}
            />
          </div>
        }
        second={
          isComparing ? (
            <FolderComparison key={serverId} serverId={serverId} />
          ) : (
            <Chosen server={server} skills={skills} item={item} />
          )
        }
      />
    </div>
  );
}
