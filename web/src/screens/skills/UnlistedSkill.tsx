// A skill that the list does not have: asked for by its URI.
import { useEffect, useState } from "react";
import { Link } from "react-router";
import type { ErrorView, SkillView } from "../../api/types";
import { EmptyState } from "../../components/EmptyState";
import { ErrorNote } from "../../components/ErrorNote";
import { command } from "../../state/commands";
import { pathTo } from "../../state/navigation";
import { errorViewOf } from "../../state/toasts";

interface Props {
  serverId: string;
  uri: string;
  onFound(skill: SkillView): void;
}

export function UnlistedSkill({ serverId, uri, onFound }: Props) {
  const [error, setError] = useState<ErrorView | null>(null);
  useEffect(() => {
    let isGone = false;
    command("GetSkill", { server_id: serverId, uri }).then(
      // The address names it, whatever the server calls it.
      ({ got }) => !isGone && onFound({ ...got, uri }),
      (thrown: unknown) => !isGone && setError(errorViewOf(thrown)),
    );
    return () => {
      isGone = true;
    };
  }, [serverId, uri, onFound]);
  if (!error) return <EmptyState icon="skills" title="Asking the server for this skill…" />;
  return (
    <div className="pad stack">
      <Link to={pathTo(serverId, "skills")} className="narrow-only">
        All skills
      </Link>
      <ErrorNote
        error={error}
        title={
          error.category === "server"
            ? "The server has no such skill, listed or not"
            : "The server could not be asked for this skill"
        }
      />
    </div>
  );
}
