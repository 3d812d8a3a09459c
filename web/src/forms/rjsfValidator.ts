// The validator that the form library asks which branch of a schema a value belongs to.
import {
  type ErrorSchema,
  ErrorSchemaBuilder,
  type RJSFSchema,
  type ValidatorType,
} from "@rjsf/utils";
import { withoutMarks } from "./schema";
import { type Finding, isValid, partsOf } from "./validate";

export const validator: ValidatorType<unknown, RJSFSchema> = {
  // The form shows what SchemaForm gives it as extra errors, of the schema as the server sent it.
  validateFormData: () => ({ errors: [], errorSchema: {} }),
  isValid: (schema, value) => isValid(withoutMarks(schema), value),
  rawValidation: () => ({ errors: [] }),
};

export function errorSchemaOf(findings: Finding[]): ErrorSchema<unknown> {
  const builder = new ErrorSchemaBuilder<unknown>();
  for (const { pointer, message } of findings) builder.addErrors(message, partsOf(pointer));
  return builder.ErrorSchema;
}
