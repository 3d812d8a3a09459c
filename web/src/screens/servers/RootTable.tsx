import { ActionIcon } from "@mantine/core";
import type { RootView } from "../../api/types";
import { Callout } from "../../components/Callout";
import { Icon } from "../../components/Icon";
import { useResolvedPath } from "./useResolvedPath";

/** A root may not exist; the server is still told about it. */
function MissingFolderNote({ uri }: { uri: string }) {
  const lead = useResolvedPath(uri);
  if (!lead?.problem) return null;
  // The path is shown above.
  const problem = lead.problem.replace(`${lead.path} cannot`, "It cannot");
  return <Callout>{problem}. The server is still told about it.</Callout>;
}

interface Props {
  roots: RootView[];
  /** Whether the server can ask for them. */
  isSeen: boolean;
  onRemove(uri: string): void;
}

export function RootTable({ roots, isSeen, onRemove }: Props) {
  if (roots.length === 0)
    return <p className="dim">No roots.{isSeen && " The server sees an empty list."}</p>;
  return (
    <table className="plain">
      <thead>
        <tr>
          <th>Name</th>
          <th>URI</th>
          <th>
            <span className="sr">Remove</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {roots.map((root) => (
          <tr key={root.uri}>
            <td>{root.name}</td>
            <td>
              <span className="mono">{root.uri}</span>
              <MissingFolderNote uri={root.uri} />
            </td>
            <td>
              <ActionIcon aria-label={`Remove ${root.uri}`} onClick={() => onRemove(root.uri)}>
                <Icon name="trash" size={14} />
              </ActionIcon>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
