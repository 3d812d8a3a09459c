// Validator for the form library, which uses it to match values to branches.
import {
  type ErrorSchema,
  ErrorSchemaBuilder,
  type RJSFSchema,
  type ValidatorType,
} from "@rjsf/utils";
import { withoutMarks } from "./schema";
import { type Finding, isValid, partsOf } from "./validate";

export const validator: ValidatorType<unknown, RJSFSchema> = {
  // Errors come from the original schema, as extraErrors of SchemaForm.
  validateFormData: () => ({ errors: [], errorSchema: {} }),
  isValid: (schema, value) => isValid(withoutMarks(schema), value),
  rawValidation: () => ({ errors: [] }),
};

export function errorSchemaOf(findings: Finding[]): ErrorSchema<unknown> {
  const builder = new ErrorSchemaBuilder<unknown>();
  for (const { pointer, message } of findings) builder.addErrors(message, partsOf(pointer));
  return builder.ErrorSchema;
}
