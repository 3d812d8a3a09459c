// Saved calls in files: the list of files, and the one that is chosen.
import { Button } from "@mantine/core";
import { useMemo, useState } from "react";
import { useNavigate } from "react-router";
import type { CollectionFileView } from "../../api/types";
import { EmptyState } from "../../components/EmptyState";
import { ErrorNote } from "../../components/ErrorNote";
import { Icon } from "../../components/Icon";
import { NoSearchMatches } from "../../components/NoMatches";
import { SearchField } from "../../components/SearchField";
import { SplitPane } from "../../components/SplitPane";
import { VirtualList } from "../../components/VirtualList";
import { command } from "../../state/commands";
import { pathToCollection, usePageLocation } from "../../state/navigation";
import { CollectionPanel } from "./CollectionPanel";
import css from "./Collections.module.css";
import { useCollectionList } from "./collections";
import { HowToSave } from "./HowToSave";
import { NameDialog } from "./NameDialog";

function Row({ file }: { file: CollectionFileView }) {
  const place = file.is_given ? file.path : file.folder;
  return (
    <div className="row">
      <span className={`cut ${css.file}`}>{file.name}</span>
      <span className="cut-front dim grow" title={place}>
        <bdi dir="ltr">{place}</bdi>
      </span>
      {file.problem ? (
        <span className="bad" title={file.problem}>
          <Icon name="alert" size={13} />
          <span className="sr">cannot be read</span>
        </span>
      ) : (
        <span className="dim">{file.count}</span>
      )}
    </div>
  );
}

function Nothing({ path, onNew }: { path: string; onNew(): void }) {
  return (
    <EmptyState
      icon="collections"
      title="No saved calls yet"
      action={<Button onClick={onNew}>New collection</Button>}
    >
      <HowToSave /> It is kept in a file that you can read, edit and share, below{" "}
      <span className="mono">{path}</span>.
    </EmptyState>
  );
}

export function Collections() {
  const { item } = usePageLocation();
  const navigate = useNavigate();
  const { value: list, error, reload } = useCollectionList();
  const [text, setText] = useState("");
  const [isNew, setNew] = useState(false);
  const found = useMemo(() => {
    const needle = text.trim().toLowerCase();
    return (list?.files ?? []).filter((file) => file.key.toLowerCase().includes(needle));
  }, [list, text]);
  // The only one needs no choice; a narrow screen shows the list first.
  const shown = item ?? (list?.files.length === 1 ? (list.files[0]?.key ?? null) : null);
  const open = (key?: string): void => void navigate(pathToCollection(key));
  const files = (
    <div className="pane">
      {(list?.files.length ?? 0) > 6 && (
        <div className="toolbar">
          <SearchField
            label="Search collections"
            value={text}
            onChange={setText}
            className="grow"
          />
        </div>
      )}
      {error && <ErrorNote error={error} title="The collections cannot be listed" />}
      {text && found.length === 0 ? (
        <NoSearchMatches text={text} onClear={() => setText("")} />
      ) : (
        <VirtualList
          label="Collections"
          items={found}
          keyOf={(file) => file.key}
          chosen={shown}
          onChoose={(file: CollectionFileView) => open(file.key)}
          rowHeight={32}
          render={(file) => <Row file={file} />}
        />
      )}
    </div>
  );
  return (
    <div className="pane">
      <div className="toolbar">
        <h1 className="title">Collections</h1>
        <span className="grow" />
        <Button
          variant="default"
          leftSection={<Icon name="add" size={13} />}
          onClick={() => setNew(true)}
        >
          New collection
        </Button>
      </div>
      {list?.files.length === 0 && item === null ? (
        <Nothing path={list.path} onNew={() => setNew(true)} />
      ) : (
        <SplitPane
          name="collections"
          label="Width of the list"
          initial={280}
          narrow={item === null ? "first" : "second"}
          first={files}
          second={
            shown === null ? (
              <EmptyState icon="collections" title="Choose a collection">
                Its calls can be run one by one, or all in order.
              </EmptyState>
            ) : (
              <CollectionPanel
                key={shown}
                name={shown}
                onMoved={(key) => {
                  void reload();
                  open(key);
                }}
                onChanged={() => void reload()}
              />
            )
          }
        />
      )}
      {isNew && (
        <NameDialog
          title="New collection"
          confirm="Create"
          onClose={() => setNew(false)}
          onDone={async (folder, name) => {
            const made = await command("CreateCollection", { folder, name });
            await reload();
            open(made.key);
          }}
        />
      )}
    </div>
  );
}
