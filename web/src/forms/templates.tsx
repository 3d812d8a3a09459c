// Form library templates for lists and objects: fieldsets with numbered items and labelled buttons.
import { ActionIcon, Button, Input, Tooltip } from "@mantine/core";
import {
  type ArrayFieldItemTemplateProps,
  type ArrayFieldTemplateProps,
  buttonId,
  canExpand,
  type DescriptionFieldProps,
  type FieldErrorProps,
  type IconButtonProps,
  type ObjectFieldTemplateProps,
} from "@rjsf/utils";
import type { ReactNode } from "react";
import { type IconName, Icon as Sign } from "../components/Icon";
import { visible } from "../values/hiddenCharacters";
import { EmptyValueSelect } from "./EmptyValueSelect";
import { describeField } from "./FieldDescription";
import { useValueAt } from "./formValue";
import css from "./SchemaForm.module.css";
import { isRequiredField, type Schema } from "./schema";
import { isMultipleChoice } from "./schemaRewrites";
import { useFocusAdded } from "./useFocusAdded";

function Add({ id, label, onClick, isOff }: AddProps) {
  const { place, begin } = useFocusAdded();
  return (
    <div ref={place}>
      <Button
        id={id}
        size="compact-xs"
        variant="default"
        leftSection={<Sign name="add" size={12} />}
        disabled={isOff}
        onClick={() => {
          begin();
          onClick();
        }}
      >
        {label}
      </Button>
    </div>
  );
}

interface AddProps {
  id: string;
  label: string;
  onClick(): void;
  isOff: boolean | undefined;
}

interface FrameProps {
  id: string;
  title: string;
  required: boolean | undefined;
  description: ReactNode;
  children: ReactNode;
}

const told = (about: ReactNode): ReactNode => (typeof about === "string" ? visible(about) : about);

function Frame({ id, title, required, description, children }: FrameProps) {
  return (
    <fieldset
      id={id}
      className={css.frame}
      aria-describedby={description ? `${id}-about` : undefined}
    >
      <legend id={`${id}-label`} className={css.name}>
        {visible(title)}
        {required && <span className={css.required}> *</span>}
      </legend>
      {description && (
        <div id={`${id}-about`} className={css.about}>
          {told(description)}
        </div>
      )}
      {children}
    </fieldset>
  );
}

function List(props: ArrayFieldTemplateProps) {
  const { items, canAdd, onAddClick, fieldPathId, title, schema } = props;
  const required = isRequiredField(schema, props.required);
  const [value, put] = useValueAt(fieldPathId.path);
  return (
    <Frame
      id={fieldPathId.$id}
      title={title}
      required={required}
      description={describeField(schema)}
    >
      {items.length === 0 && (
        <div className={css.none}>
          <span className="dim">No items.</span>
          <EmptyValueSelect
            {...{ id: fieldPathId.$id, schema, value, required }}
            isOff={props.disabled || props.readonly}
            onChange={put}
          />
        </div>
      )}
      {items}
      {canAdd && (
        <Add
          id={buttonId(fieldPathId, "add")}
          label="Add an item"
          onClick={() => onAddClick()}
          isOff={props.disabled || props.readonly}
        />
      )}
    </Frame>
  );
}

function IconOf({ name, label, isOff, isHidden, onClick }: IconProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon
        aria-label={label}
        size="sm"
        disabled={isOff}
        onClick={onClick}
        style={isHidden ? { visibility: "hidden" } : undefined}
      >
        <Sign name={name} size={14} />
      </ActionIcon>
    </Tooltip>
  );
}

interface IconProps {
  name: IconName;
  label: string;
  isOff: boolean | undefined;
  /** Keeps its space, so that the other buttons do not move. */
  isHidden?: boolean;
  onClick: IconButtonProps["onClick"];
}

function ListItem({
  children,
  buttonsProps: does,
  index,
  hasToolbar,
}: ArrayFieldItemTemplateProps) {
  const isOff = does.disabled || does.readonly;
  const nth = `item ${index + 1}`;
  return (
    <div className={css.item}>
      <span className={css.number}>{index + 1}</span>
      <div className="grow">{children}</div>
      {hasToolbar && (
        <div className={css.buttons}>
          {(does.hasMoveUp || does.hasMoveDown) && (
            <>
              <IconOf
                name="up"
                label={`Move ${nth} up`}
                isOff={isOff}
                isHidden={!does.hasMoveUp}
                onClick={does.onMoveUpItem}
              />
              <IconOf
                name="down"
                label={`Move ${nth} down`}
                isOff={isOff}
                isHidden={!does.hasMoveDown}
                onClick={does.onMoveDownItem}
              />
            </>
          )}
          {does.hasRemove && (
            <IconOf
              name="close"
              label={`Remove ${nth}`}
              isOff={isOff}
              onClick={does.onRemoveItem}
            />
          )}
        </div>
      )}
    </div>
  );
}

function Fields(props: ObjectFieldTemplateProps) {
  const { properties, schema, uiSchema, formData, fieldPathId, title } = props;
  const required = isRequiredField(schema, props.required);
  const [value, put] = useValueAt(fieldPathId.path);
  const fields = (
    <div className={css.fields}>
      {properties.filter((one) => !one.hidden).map((one) => one.content)}
      {canExpand(schema, uiSchema, formData) && (
        <Add
          id={buttonId(fieldPathId, "add")}
          label="Add a key"
          onClick={() => props.onAddProperty()}
          isOff={props.disabled || props.readonly}
        />
      )}
    </div>
  );
  // The form itself needs no frame; neither does an item of a list, which has its number.
  const isItem = typeof fieldPathId.path.at(-1) === "number";
  if (fieldPathId.path.length === 0 || isItem || !title)
    return <div id={fieldPathId.$id}>{fields}</div>;
  return (
    <Frame
      id={fieldPathId.$id}
      title={title}
      required={required}
      description={describeField(schema)}
    >
      {fields}
      <EmptyValueSelect
        {...{ id: fieldPathId.$id, schema, value, required }}
        isOff={props.disabled || props.readonly}
        onChange={put}
      />
    </Frame>
  );
}

function RemoveButton({ id, disabled, onClick }: IconButtonProps) {
  return (
    <Tooltip label="Remove this key">
      <ActionIcon id={id} aria-label="Remove this key" disabled={disabled} onClick={onClick}>
        <Sign name="close" size={14} />
      </ActionIcon>
    </Tooltip>
  );
}

const Description = ({ id, description }: DescriptionFieldProps) =>
  description ? (
    <div id={id} className={css.about}>
      {told(description)}
    </div>
  ) : null;

/** Below a list or an object; each control shows its own. */
function Errors({ errors = [], schema }: FieldErrorProps) {
  const isOuter = schema.type === "object" || schema.type === "array";
  if (!isOuter || isMultipleChoice(schema as Schema) || errors.length === 0) return null;
  return (
    <Input.Error className={css.error} mt={4}>
      {errors.map(String).join("\n")}
    </Input.Error>
  );
}

export const templates = {
  FieldErrorTemplate: Errors,
  DescriptionFieldTemplate: Description,
  ArrayFieldTemplate: List,
  ArrayFieldItemTemplate: ListItem,
  ObjectFieldTemplate: Fields,
  ButtonTemplates: { RemoveButton },
};
