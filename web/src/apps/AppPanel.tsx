// The app of a tool in the chosen host, and beside it in another one, with what differs.
import { Button, Collapse, NativeSelect } from "@mantine/core";
import { useState } from "react";
import type { CallView } from "../api/types";
import { Icon } from "../components/Icon";
import { QuestionPanel } from "../questions/QuestionPanel";
import { waitingQuestions } from "../questions/waitingQuestions";
import { useInspector } from "../state/store";
import type { JsonObject } from "../values/jsonObject";
import { AppControls } from "./AppControls";
import css from "./AppPanel.module.css";
import { type AppRun, appDifferences } from "./appDifferences";
import { HostedApp } from "./HostedApp";
import { useHostProfiles } from "./hostProfiles";
import { useHostSettings } from "./useHostSettings";

function Differences({ left, right, name }: { left: AppRun; right: AppRun; name: string }) {
  const found = appDifferences(left, right);
  if (found.length === 0) return <p className="dim">No difference between the two hosts.</p>;
  return (
    <table className={css.differences}>
      <caption className="sr">Differences between the two hosts</caption>
      <thead>
        <tr>
          <th scope="col">Differs</th>
          <th scope="col">This host</th>
          <th scope="col">{name}</th>
        </tr>
      </thead>
      <tbody>
        {found.map(({ what, left: one, right: other }) => (
          <tr key={what}>
            <th scope="row">{what}</th>
            <td>{one}</td>
            <td>{other}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** What the apps of a server ask the person: completions, as the server itself asks them. */
function AppQuestions({ serverId }: { serverId: string }) {
  const questions = useInspector((state) => state.questions);
  return waitingQuestions(questions)
    .filter((one) => one.origin === "app" && one.server_id === serverId)
    .map((one) => <QuestionPanel key={one.question_id} question={one} />);
}

const NONE = "No other host";

interface Props {
  serverId: string;
  tool: string;
  /** The call that the app is shown for; null to open it without one. */
  call: CallView | null;
  /** Arguments to tell the app by hand, where there is no call. */
  draft?: JsonObject;
}

const NO_ARGUMENTS: JsonObject = {};

export function AppPanel({ serverId, tool, call, draft = NO_ARGUMENTS }: Props) {
  const [settings, setSettings] = useHostSettings(serverId, tool);
  const profiles = useHostProfiles();
  const [isOpen, setOpen] = useState(false);
  const [other, setOther] = useState(NONE);
  const [left, setLeft] = useState<AppRun | null>(null);
  const [right, setRight] = useState<AppRun | null>(null);
  const beside = profiles[other];
  const same = { serverId, tool, call, draft, isBrief: beside !== undefined };
  const button = (
    <Button
      variant="subtle"
      color="gray"
      leftSection={<Icon name="settings" />}
      aria-expanded={isOpen}
      onClick={() => setOpen(!isOpen)}
    >
      Host
    </Button>
  );
  const controls = (
    <Collapse expanded={isOpen} className={css.settings}>
      <div className={`stack ${css.options}`}>
        <AppControls settings={settings} profiles={profiles} onChange={setSettings} />
        <NativeSelect
          size="xs"
          className={css.other}
          label="Run beside it in"
          data={[NONE, ...Object.keys(profiles)]}
          value={other}
          onChange={({ currentTarget: { value } }) => setOther(value)}
        />
      </div>
    </Collapse>
  );
  return (
    <div className={css.panel}>
      <AppQuestions serverId={serverId} />
      <div className={beside ? css.beside : undefined}>
        <HostedApp
          {...same}
          settings={settings}
          actions={button}
          controls={controls}
          onRun={setLeft}
        />
        {beside && (
          <HostedApp
            {...same}
            settings={beside}
            actions={<span className="dim">{other}</span>}
            onRun={setRight}
          />
        )}
      </div>
      {beside && left && right && <Differences left={left} right={right} name={other} />}
    </div>
  );
}
