// Which screen edits a recorded request, and the drafts to fill in there.

import type { Draft } from "../../state/filledDrafts";
import { pathTo } from "../../state/navigation";
import { pretty } from "../../values/json";
import { isObject } from "../../values/jsonObject";

interface EditDraft {
  path: string;
  /** Drafts of that screen. */
  drafts: Draft[];
  /** Message for the raw tester, if it is that screen. */
  raw?: string;
}

type Fields = Record<string, unknown>;

// Far from the ids that mcplens counts up from 1.
const RAW_ID = 1001;
// Prefix of the protocol's own fields, which are set for each request.
const OWN_META = "io.modelcontextprotocol/";

/** The user's part of a `_meta`, without progress token and protocol fields. */
function givenMeta(meta: unknown): Fields {
  const given = Object.entries(isObject(meta) ? meta : {});
  return Object.fromEntries(
    given.filter(([name]) => name !== "progressToken" && !name.startsWith(OWN_META)),
  );
}

function toolEditDraft(serverId: string, name: string, params: Fields): EditDraft {
  const args = params.arguments ?? {};
  const meta = givenMeta(params._meta);
  const options = {
    meta: Object.keys(meta).length ? pretty(meta) : "",
    headers: [],
    timeout_s: "",
    as_task: "task" in params,
  };
  return {
    path: pathTo(serverId, "tools", name),
    drafts: [
      [`tool.${serverId}/${name}`, { text: pretty(args), mode: isObject(args) ? "form" : "json" }],
      [`tool.${serverId}/${name}.options`, options],
    ],
  };
}

/** The screen for a message; the raw tester for messages that no other screen can hold. */
export function editDraftFor(serverId: string, message: unknown): EditDraft {
  const { method, params } = isObject(message) ? message : {};
  const { name, uri, arguments: args = {}, _meta, ...more } = isObject(params) ? params : {};
  const { task: _, ...odd } = more;
  const isPlain = !Object.keys(more).length && !Object.keys(givenMeta(_meta)).length;
  if (method === "tools/call" && typeof name === "string" && name && !Object.keys(odd).length)
    return toolEditDraft(serverId, name, params as Fields);
  if (method === "resources/read" && typeof uri === "string" && uri && isPlain)
    return {
      path: `${pathTo(serverId, "resources")}?uri=${encodeURIComponent(uri)}`,
      drafts: [],
    };
  const isTexts = isObject(args) && Object.values(args).every((one) => typeof one === "string");
  if (method === "prompts/get" && typeof name === "string" && name && isTexts && isPlain)
    return {
      path: pathTo(serverId, "prompts", name),
      drafts: [[`prompt.${serverId}/${name}`, args]],
    };
  return {
    path: pathTo(serverId, "raw"),
    drafts: [],
    raw: pretty(isObject(message) ? withNewId(message) : message),
  };
}

/** The message with a free id and without its progress token. */
function withNewId(message: Fields): Fields {
  const { params } = message;
  const meta = isObject(params) ? params._meta : undefined;
  const again = "id" in message ? { ...message, id: RAW_ID } : message;
  if (!isObject(params) || !isObject(meta)) return again;
  const { progressToken: _, ...kept } = meta;
  return { ...again, params: { ...params, _meta: kept } };
}
