import { UntrustedText } from "../components/UntrustedText";
import css from "./QuestionPanel.module.css";
import { asText } from "./questionParams";

/** The message of an elicitation, which must be a text and may be anything. */
export function ElicitationMessage({ message }: { message: unknown }) {
  if (message === undefined || message === "") return <p className="dim">It gives no message.</p>;
  return (
    <p className={css.message}>
      <UntrustedText>{asText(message)}</UntrustedText>
    </p>
  );
}
