import { UntrustedText } from "../components/UntrustedText";
import { shown } from "./asked";
import css from "./QuestionPanel.module.css";

/** The message of an elicitation, which must be a text and may be anything. */
export function Said({ message }: { message: unknown }) {
  if (message === undefined || message === "") return <p className="dim">It gives no message.</p>;
  return (
    <p className={css.message}>
      <UntrustedText>{shown(message)}</UntrustedText>
    </p>
  );
}
