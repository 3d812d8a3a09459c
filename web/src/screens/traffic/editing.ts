// Where a request that was sent is edited and sent again, and what is filled in there.
import { pretty } from "../../parts/text";
import { pathTo, pathToServer } from "../../state/selection";

export interface Editing {
  path: string;
  /** The draft of that screen, and what it is to hold. */
  draft: [key: string, value: unknown] | null;
}

type Fields = Record<string, unknown>;

// Far from the ids that are given in turn.
const RAW_ID = 1001;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The screen for a message; the raw tester for all that no screen can hold. */
export function editingOf(serverId: string, message: unknown): Editing {
  const { method, params } = isFields(message) ? message : {};
  const given = isFields(params) ? params : {};
  const { name, uri } = given;
  const args = given.arguments ?? {};
  if (method === "tools/call" && typeof name === "string" && name)
    return {
      path: pathTo(serverId, "tools", name),
      draft: [
        `tool.${serverId}/${name}`,
        { text: pretty(args), mode: isFields(args) ? "form" : "json" },
      ],
    };
  if (method === "resources/read" && typeof uri === "string" && uri)
    return {
      path: `${pathTo(serverId, "resources")}?uri=${encodeURIComponent(uri)}`,
      draft: null,
    };
  const isTexts = isFields(args) && Object.values(args).every((one) => typeof one === "string");
  if (method === "prompts/get" && typeof name === "string" && name && isTexts)
    return {
      path: pathTo(serverId, "prompts", name),
      draft: [`prompt.${serverId}/${name}`, args],
    };
  return {
    path: pathToServer(serverId, "experimental"),
    draft: [`raw.${serverId}`, pretty(isFields(message) ? renewed(message) : message)],
  };
}

/** The message with an id that is free, and without the token of its progress. */
function renewed(message: Fields): Fields {
  const { params } = message;
  const meta = isFields(params) ? params._meta : undefined;
  const again = "id" in message ? { ...message, id: RAW_ID } : message;
  if (!isFields(params) || !isFields(meta)) return again;
  const { progressToken: _, ...kept } = meta;
  return { ...again, params: { ...params, _meta: kept } };
}
