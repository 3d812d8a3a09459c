// Buttons, fields and notices in every state that the screens use.
import {
  ActionIcon,
  Badge,
  Button,
  Checkbox,
  SegmentedControl,
  Select,
  Switch,
  Textarea,
  TextInput,
} from "@mantine/core";
import { useState } from "react";
import { Callout } from "../components/Callout";
import { EmptyState } from "../components/EmptyState";
import { ErrorNote } from "../components/ErrorNote";
import { Icon } from "../components/Icon";
import { SearchField } from "../components/SearchField";
import { StateDot } from "../components/StateDot";
import type { DisplayState } from "../values/serverState";
import css from "./Look.module.css";

const VARIANTS = ["filled", "default", "light", "subtle", "outline"] as const;
const COLORS = ["gray", "green", "yellow", "orange", "red", "blue", "violet"];
const STATES: DisplayState[] = ["DISCONNECTED", "CONNECTING", "CONNECTED", "ERROR", "SIGN_IN"];

function Buttons() {
  return (
    <section className={css.section} aria-label="Buttons">
      <h2 className="section-title">Buttons, badges, states</h2>
      <div className="row wrap">
        {VARIANTS.map((variant) => (
          <Button key={variant} variant={variant}>
            Run {variant}
          </Button>
        ))}
        <Button color="red">Remove</Button>
        <Button disabled>Disabled</Button>
        <Button size="compact-xs" variant="default">
          Small
        </Button>
        <ActionIcon aria-label="Copy">
          <Icon name="copy" />
        </ActionIcon>
      </div>
      <div className="row wrap">
        <Badge>lens</Badge>
        {COLORS.map((color) => (
          <Badge key={color} color={color}>
            {color}
          </Badge>
        ))}
        {STATES.map((state) => (
          <span key={state} className="row">
            <StateDot state={state} /> {state.toLowerCase()}
          </span>
        ))}
      </div>
    </section>
  );
}

function Fields() {
  const [text, setText] = useState("");
  const [form, setForm] = useState("Result");
  return (
    <section className={css.section} aria-label="Fields">
      <h2 className="section-title">Fields</h2>
      <div className={`stack ${css.form}`}>
        <SearchField label="Search tools" value={text} onChange={setText} />
        <TextInput label="Name" description="Help stands above its field" placeholder="not sent" />
        <TextInput label="Refused" error="Enter a name" defaultValue="?" withAsterisk />
        <Select label="Unit" data={["Celsius", "Fahrenheit"]} defaultValue="Celsius" />
        <Textarea label="Text" defaultValue="Two\nlines" autosize />
        <Checkbox label="Send a header" defaultChecked />
        <Switch label="Load page by page" defaultChecked />
        <SegmentedControl
          aria-label="View"
          value={form}
          onChange={setForm}
          data={["Result", "JSON", "Raw", "Request"]}
        />
      </div>
    </section>
  );
}

export function Controls() {
  return (
    <>
      <Buttons />
      <Fields />
      <section className={css.section} aria-label="Notices">
        <h2 className="section-title">Notices</h2>
        <Callout>The server changed its tools.</Callout>
        <Callout tone="info">The text is the same as the structured content.</Callout>
        <ErrorNote
          title="The server could not be started"
          error={{
            code: "SPAWN_FAILED",
            message: "There is no program named npx.",
            details: { command: "npx" },
            helpUrl: "/docs/errors/spawn-failed",
            category: "transport",
            retryable: false,
          }}
        />
        <EmptyState icon="play" title="Not called yet">
          Fill in the arguments and press Run.
        </EmptyState>
      </section>
    </>
  );
}
