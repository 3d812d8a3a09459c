import type { WholeEvent } from "../api/types";
import { fieldsOf } from "../values/jsonObject";

/** The names of what the recording masked in the bytes of an event, each once. */
export const maskedIn = (masked: WholeEvent["masked"]): string[] => [
  ...new Set(masked.map((one) => fieldsOf(one).key).filter((key) => typeof key === "string")),
];
