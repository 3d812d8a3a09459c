import { Link } from "react-router";
import { EmptyState } from "../components/EmptyState";
import { pathTo } from "../state/navigation";

interface Props {
  name: string;
  serverId: string;
  screen: "tools" | "resources" | "prompts";
}

/** In place of what a list does not have, while the rest of the list is on its way. */
export function ItemLoading({ name, serverId, screen }: Props) {
  const back = (
    <Link to={pathTo(serverId, screen)} className="narrow-only">
      All {screen}
    </Link>
  );
  return (
    <EmptyState icon={screen} title={`Looking for ${name}`} action={back}>
      It is not in what came of the list so far.
    </EmptyState>
  );
}
