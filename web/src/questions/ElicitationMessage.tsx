import { UntrustedText } from "../components/UntrustedText";
import css from "./QuestionPanel.module.css";
import { asText } from "./questionParams";

/** The message of an elicitation; should be a string, may be anything. */
export function ElicitationMessage({ message }: { message: unknown }) {
  if (message === undefined || message === "")
    return <p className="dim">The server sent no message.</p>;
  return (
    <p className={css.message}>
      <UntrustedText>{asText(message)}</UntrustedText>
    </p>
  );
}
