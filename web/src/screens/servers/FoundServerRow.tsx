// One found server: description, name to use, and required inputs.
import { Badge, Checkbox, PasswordInput, Select, TextInput } from "@mantine/core";
import type { FoundView, InputView } from "../../api/types";
import { Icon } from "../../components/Icon";
import css from "./FoundServerList.module.css";
import { foundProblems, placeOf, variableAndHeaderNames } from "./foundServers";
import { TapOffer } from "./TapOffer";

interface InputProps {
  input: InputView;
  value: string;
  onChange(value: string): void;
}

function InputField({ input, value, onChange }: InputProps) {
  const otherwise =
    input.default === null
      ? `from the environment variable ${input.variable}`
      : `${input.default}, or the environment variable ${input.variable}`;
  const shared = {
    label: input.description || input.id,
    description: `Left empty: ${input.is_required || input.default !== null ? otherwise : "not given"}`,
    withAsterisk: input.is_required,
    value,
  };
  if (input.choices.length > 0)
    return (
      <Select {...shared} clearable data={input.choices} onChange={(one) => onChange(one ?? "")} />
    );
  if (input.is_secret)
    return (
      <PasswordInput
        {...shared}
        autoComplete="off"
        visibilityToggleButtonProps={{ "aria-label": `Show ${input.id}` }}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  return <TextInput {...shared} onChange={(event) => onChange(event.currentTarget.value)} />;
}

interface Props {
  one: FoundView;
  name: string;
  nameProblem: string | null;
  isChosen: boolean;
  values: Record<string, string>;
  onChosen(isChosen: boolean): void;
  onName(name: string): void;
  onValues(values: Record<string, string>): void;
  onChoice(choice: string): void;
  /** The file that it was found in has changed. */
  onFileChanged(): void;
}

function Details({ one, name, nameProblem, values, onName, onValues }: Props) {
  return (
    <>
      <TextInput
        label="Add it as"
        value={name}
        error={nameProblem}
        onChange={(event) => onName(event.currentTarget.value)}
      />
      {one.inputs.map((input) => (
        <InputField
          key={input.id}
          input={input}
          value={values[input.id] ?? ""}
          onChange={(value) => onValues({ ...values, [input.id]: value })}
        />
      ))}
      {one.inputs.length > 0 && (
        <span className="dim">The values are written to the configuration file.</span>
      )}
    </>
  );
}

/** Why it cannot be added, or what it will lack. */
function Problems({ one }: { one: FoundView }) {
  const problems = foundProblems(one);
  if (problems.length === 0) return null;
  return (
    <div className={css.problem} data-tone={one.can_be_added ? "wait" : "bad"}>
      <Icon name="alert" size={14} />
      <div className="stack tight">
        <strong>{one.can_be_added ? "Something is missing" : "It cannot be added"}</strong>
        {problems.map((text) => (
          <span key={text}>{text}</span>
        ))}
        {one.can_be_added && <span>You can add it now and supply that later.</span>}
      </div>
    </div>
  );
}

export function FoundServerRow(props: Props) {
  const { one, isChosen, onChosen, onChoice, onFileChanged } = props;
  const place = placeOf(one);
  const label = [one.name, one.source.kind, place].filter(Boolean).join(", ");
  return (
    <div className="card stack tight" role="group" aria-label={label}>
      <div className="row wrap">
        <Checkbox
          checked={isChosen}
          disabled={!one.can_be_added}
          aria-label={label}
          onChange={(event) => onChosen(event.currentTarget.checked)}
          label={<strong>{one.name}</strong>}
        />
        {one.source.kind !== "mcplens" && <Badge color="gray">{one.source.kind}</Badge>}
        {one.is_known && <Badge color="gray">name already in use</Badge>}
        {one.tap === "installed" && <Badge color="gray">recorded by mcplens</Badge>}
      </div>
      {place && (
        <div className="dim" style={{ overflowWrap: "anywhere" }}>
          {place}
        </div>
      )}
      <div className="mono" style={{ overflowWrap: "anywhere" }}>
        {one.shown}
      </div>
      {variableAndHeaderNames(one).map(([what, names]) => (
        <div key={what} className="dim" style={{ overflowWrap: "anywhere" }}>
          {what}: {names}
        </div>
      ))}
      {one.choices.length > 1 && (
        <Select
          label="Package"
          description="How it is installed or reached"
          allowDeselect={false}
          data={one.choices}
          value={one.choice}
          onChange={(choice) => choice && onChoice(choice)}
        />
      )}
      <Problems one={one} />
      <TapOffer one={one} onChanged={onFileChanged} />
      {isChosen && <Details {...props} />}
    </div>
  );
}
