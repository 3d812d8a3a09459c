// Form controls, each with label, description and error.
import { Button, Checkbox, Input, MultiSelect, Select, Textarea, TextInput } from "@mantine/core";
import { SchemaExamples } from "@rjsf/core";
import { deepEquals, examplesId, type WidgetProps } from "@rjsf/utils";
import { type ChangeEvent, useContext } from "react";
import { truncate } from "../values/format";
import { visible } from "../values/hiddenCharacters";
import { PICKERS, type Picker } from "./dateTimePickers";
import { EmptyValueField } from "./EmptyValueSelect";
import { describeField } from "./FieldDescription";
import { ListPathContext, useValueAt } from "./formValue";
import css from "./SchemaForm.module.css";
import { isRequiredField, isSchema, VALUE_WHEN_EMPTIED } from "./schema";
import { isUncheckedNote } from "./validate";

// More choices than this are found by typing; a browser is slow to lay out thousands.
const MOST_CHOICES = 100;
// Examples that are shown as buttons beneath a field; more would hide the next one.
const MOST_EXAMPLES = 5;
// A field grows to this many lines, then it scrolls, as .text says too.
const MOST_LINES = 12;

type ControlInfo = Pick<
  WidgetProps,
  "id" | "label" | "schema" | "required" | "disabled" | "readonly" | "rawErrors" | "options"
>;

/** Common props of all controls. */
export function controlProps({
  id,
  label,
  schema,
  required,
  disabled,
  readonly,
  rawErrors,
}: ControlInfo) {
  const notes = rawErrors?.filter(isUncheckedNote) ?? [];
  const errors = rawErrors?.filter((one) => !isUncheckedNote(one)) ?? [];
  return {
    id,
    label: visible(label),
    // An empty name still needs a label.
    "aria-label": label ? undefined : "Field without a name",
    description: describeField(schema, notes.join("\n")),
    required: isRequiredField(schema, required),
    disabled: disabled ?? false,
    readOnly: readonly ?? false,
    error: errors.length ? errors.join("\n") : undefined,
  };
}

/** What an empty field says: an optional one that it is not sent. */
export const placeholderFor = (value: unknown, isRequired: boolean): string =>
  value === undefined && !isRequired ? "not sent" : "";

/** Props of the empty-value select. */
const emptyValueProps = (props: WidgetProps) => ({
  id: props.id,
  schema: props.schema,
  value: props.value as unknown,
  required: isRequiredField(props.schema, props.required),
  isOff: props.disabled || props.readonly,
  rawErrors: props.rawErrors,
  onChange: props.onChange,
});

export const valueWhenEmptied = (schema: object): unknown =>
  (schema as Record<string, unknown>)[VALUE_WHEN_EMPTIED];

const shownText = (value: unknown): string => {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
};

/** Text input: multi-line, or single-line if its format says so. */
export function TextField(props: WidgetProps) {
  const { id, type, schema, value, onChange, onBlur, onFocus, placeholder } = props;
  const text = shownText(value);
  const shared = {
    ...controlProps(props),
    placeholder: placeholder || placeholderFor(value, isRequiredField(schema, props.required)),
    value: text,
    autoComplete: "off",
    onChange: (event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) =>
      onChange(event.currentTarget.value || valueWhenEmptied(schema)),
    onBlur: () => onBlur(id, value),
    onFocus: () => onFocus(id, value),
  };
  // A single-line input would drop line breaks.
  if (schema.format === undefined || text.includes("\n"))
    return (
      <EmptyValueField {...emptyValueProps(props)}>
        <Textarea
          {...shared}
          rows={Math.min(text.split("\n").length, MOST_LINES)}
          classNames={{ input: css.text }}
        />
        <Examples {...props} />
      </EmptyValueField>
    );
  const hasExamples = Array.isArray(schema.examples);
  return (
    <EmptyValueField {...emptyValueProps(props)}>
      <TextInput
        {...shared}
        type={type ?? "text"}
        list={hasExamples ? examplesId(id) : undefined}
      />
      {hasExamples && <SchemaExamples id={id} schema={schema} />}
    </EmptyValueField>
  );
}

/** Example buttons: browsers offer a datalist only for single-line inputs. */
function Examples({ schema, label, disabled, readonly, onChange }: WidgetProps) {
  const texts = (Array.isArray(schema.examples) ? schema.examples : [])
    .filter((one) => typeof one === "string" && one !== "")
    .slice(0, MOST_EXAMPLES) as string[];
  if (texts.length === 0 || disabled || readonly) return null;
  return (
    <div className={css.examples}>
      <span className={css.about}>For example</span>
      {[...new Set(texts)].map((text) => (
        <Button
          key={text}
          size="compact-xs"
          variant="default"
          title={visible(text)}
          aria-label={`Use as ${label || "text"}: ${text}`}
          onClick={() => onChange(text)}
        >
          {truncate(visible(text), 40)}
        </Button>
      ))}
    </div>
  );
}

/** The browser's picker; a text field for values it cannot show, such as another time zone. */
function DateTimeField({ picker, ...props }: WidgetProps & { picker: Picker }) {
  const { schema, value, onChange } = props;
  const text = shownText(value);
  const shown = text === "" ? "" : picker.shown(text);
  if (shown === null) return <TextField {...props} placeholder={picker.example} />;
  const sent = text && picker.type !== "date" ? `Sent as ${text}` : "";
  return (
    <EmptyValueField {...emptyValueProps(props)}>
      <TextInput
        {...controlProps(props)}
        type={picker.type}
        step={picker.type === "date" ? undefined : 1}
        description={describeField(schema, sent)}
        value={shown}
        onChange={(event) => {
          const next = event.currentTarget.value;
          onChange(next ? picker.picked(next) : valueWhenEmptied(schema));
        }}
      />
    </EmptyValueField>
  );
}

/** What a checkbox sends, in words: an empty box may mean false or nothing. */
function stateOf(value: unknown, isRequired: boolean): string {
  if (value === undefined) return placeholderFor(value, isRequired);
  return JSON.stringify(value);
}

function CheckboxWidget(props: WidgetProps) {
  const { value, onChange } = props;
  const { description, required, label, readOnly, error, ...rest } = controlProps(props);
  return (
    <EmptyValueField {...emptyValueProps(props)}>
      <Input.Wrapper
        id={props.id}
        label={label}
        labelProps={{ id: `${props.id}-label` }}
        description={description}
        required={required}
        error={error}
      >
        <div className={css.check}>
          <Checkbox
            {...rest}
            disabled={rest.disabled || readOnly}
            error={error !== undefined}
            checked={value === true}
            aria-describedby={description ? `${props.id}-description` : undefined}
            onChange={(event) => onChange(event.currentTarget.checked)}
          />
          <span className={css.state} aria-hidden="true">
            {stateOf(value, required)}
          </span>
        </div>
      </Input.Wrapper>
    </EmptyValueField>
  );
}

interface Choice {
  value: unknown;
  label: string;
}

/** The choices of a schema, plus the current value if it is not one of them. */
function choicesOf({ schema, options, multiple, value }: WidgetProps): Choice[] {
  const describeField = multiple && isSchema(schema.items) ? schema.items : schema;
  const names = (describeField as { enumNames?: unknown }).enumNames;
  const isPlain = Array.isArray((describeField as { enum?: unknown }).enum);
  const choices = (options.enumOptions ?? []).map((option, index) => ({
    value: option.value as unknown,
    label: isPlain ? nameOf(option.value, names, index) : option.label,
  }));
  const given: unknown[] = multiple ? (Array.isArray(value) ? value : []) : [value];
  const strange = given.filter(
    (one) => one != null && !choices.some((choice) => deepEquals(choice.value, one)),
  );
  return [
    ...choices,
    ...strange.map((one) => ({ value: one, label: `${JSON.stringify(one)} (not a choice)` })),
  ];
}

function nameOf(value: unknown, names: unknown, index: number): string {
  const name: unknown = Array.isArray(names) ? names[index] : undefined;
  if (typeof name === "string" && name) return name;
  return typeof value === "string" && value ? value : JSON.stringify(value);
}

function choiceControl(props: WidgetProps) {
  const choices = choicesOf(props);
  const isLong = choices.length > MOST_CHOICES;
  return {
    keyOf: (one: unknown): string =>
      String(choices.findIndex((choice) => deepEquals(choice.value, one))),
    choiceAt: (key: string): unknown => choices[Number(key)]?.value,
    shared: {
      ...controlProps(props),
      data: choices.map(({ label }, index) => ({ value: String(index), label: visible(label) })),
      limit: MOST_CHOICES,
      searchable: true,
      clearable: true,
      placeholder: isLong
        ? `Type to search ${choices.length.toLocaleString("en")} choices`
        : placeholderFor(props.value, isRequiredField(props.schema, props.required)),
      nothingFoundMessage: "No such choice",
    },
  };
}

function OneChoice(props: WidgetProps) {
  const { value, onChange, schema } = props;
  const { keyOf, choiceAt, shared } = choiceControl(props);
  const key = value === undefined ? "-1" : keyOf(value);
  return (
    <EmptyValueField {...emptyValueProps(props)} isFilled={key !== "-1"}>
      <Select
        {...shared}
        value={key === "-1" ? null : key}
        onChange={(next) => onChange(next === null ? valueWhenEmptied(schema) : choiceAt(next))}
      />
    </EmptyValueField>
  );
}

function SeveralChoices(props: WidgetProps) {
  const { onChange } = props;
  const { keyOf, choiceAt, shared } = choiceControl(props);
  const [value, put] = useValueAt(useContext(ListPathContext));
  return (
    <EmptyValueField {...emptyValueProps(props)} value={value} onChange={put}>
      <MultiSelect
        {...shared}
        value={Array.isArray(value) ? value.map(keyOf) : []}
        onChange={(keys) => onChange(keys.map(choiceAt))}
      />
    </EmptyValueField>
  );
}

const SelectWidget = (props: WidgetProps) =>
  props.multiple ? <SeveralChoices {...props} /> : <OneChoice {...props} />;

export const widgets = {
  CheckboxWidget,
  SelectWidget,
  DateWidget: (props: WidgetProps) => <DateTimeField {...props} picker={PICKERS.date} />,
  TimeWidget: (props: WidgetProps) => <DateTimeField {...props} picker={PICKERS.time} />,
  DateTimeWidget: (props: WidgetProps) => (
    <DateTimeField {...props} picker={PICKERS["date-time"]} />
  ),
};
