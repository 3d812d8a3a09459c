// The prompts of a server: the list, and the chosen prompt with its messages.
import type { ServerView } from "../../api/types";
import { BrokenDefinitionIcon } from "../../catalog/BrokenDefinitionIcon";
import { CatalogList } from "../../catalog/CatalogList";
import { CatalogScreen } from "../../catalog/CatalogScreen";
import { ChangeMark } from "../../catalog/ChangeMark";
import { ItemLoading } from "../../catalog/ItemLoading";
import { findMissing } from "../../catalog/NotListed";
import { EmptyState } from "../../components/EmptyState";
import { UntrustedText } from "../../components/UntrustedText";
import { type Item, itemTitle, type Prompt } from "../../state/items";
import { isStillLoading, itemsIn, useList } from "../../state/lists";
import { usePageLocation } from "../../state/navigation";
import { PromptPanel } from "./PromptPanel";

function render({ value, key, problem }: Item<Prompt>) {
  const title = itemTitle(value, key);
  return (
    <>
      <div className="row">
        <BrokenDefinitionIcon text={problem} />
        <span className="cut grow" style={{ fontWeight: 500 }}>
          <UntrustedText>{title}</UntrustedText>
        </span>
        <ChangeMark of={key} />
      </div>
      <span className="cut dim small">
        {value.name && title !== value.name && (
          <span className="mono">
            <UntrustedText>{value.name}</UntrustedText>{" "}
          </span>
        )}
        <UntrustedText>{value.description ?? ""}</UntrustedText>
      </span>
    </>
  );
}

function SelectedPrompt({ server, item }: { server: ServerView; item: string | null }) {
  const { server_id } = server;
  const list = useList(server_id, "prompts");
  if (item === null)
    return (
      <EmptyState icon="prompts" title="Choose a prompt">
        Its arguments and the messages that it returns appear here.
      </EmptyState>
    );
  const found = itemsIn<Prompt>(list).find((one) => one.key === item);
  if (!found && isStillLoading(server, list))
    return <ItemLoading name={item} serverId={server_id} screen="prompts" />;
  return (
    <PromptPanel
      key={`${server_id} ${item}`}
      server={server}
      prompt={found?.value ?? { name: item, arguments: [] }}
      itemKey={item}
      listed={found?.listed}
      missing={findMissing(list, `${server_id} prompt ${item}`, found !== undefined)}
      problem={found?.problem ?? null}
    />
  );
}

export function Prompts() {
  const { item } = usePageLocation();
  return (
    <CatalogScreen
      kind="prompts"
      calls="prompt"
      isAnyChosen={item !== null}
      list={({ server_id }) => (
        <CatalogList
          serverId={server_id}
          kind="prompts"
          label="Prompts"
          chosen={item}
          render={render}
        />
      )}
      chosen={(server) => <SelectedPrompt server={server} item={item} />}
    />
  );
}
