import { Link } from "react-router";
import { EmptyState } from "../components/EmptyState";
import { pathTo } from "../state/navigation";

interface Props {
  name: string;
  serverId: string;
  screen: "tools" | "resources" | "prompts";
}

/** Shown for an item that is not in the loaded part of a list, while the rest is loading. */
export function ItemLoading({ name, serverId, screen }: Props) {
  const back = (
    <Link to={pathTo(serverId, screen)} className="narrow-only">
      All {screen}
    </Link>
  );
  return (
    <EmptyState icon={screen} title={`Looking for ${name}`} action={back}>
      It is not in the part of the list that has loaded so far.
    </EmptyState>
  );
}
