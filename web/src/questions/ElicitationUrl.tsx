// URL elicitation: a server asks the user to open a URL. It is shown with warnings, never opened
// automatically.
import { Button, Loader } from "@mantine/core";
import type { LinkView } from "../api/types";
import { Callout } from "../components/Callout";
import { copyText } from "../components/clipboard";
import { Icon } from "../components/Icon";
import { command } from "../state/commands";
import { visible } from "../values/hiddenCharacters";
import { fieldsOf } from "../values/jsonObject";
import { AnswerBar, RefuseButtons } from "./AnswerBar";
import { useAnswerDraft } from "./answerDrafts";
import { ElicitationMessage } from "./ElicitationMessage";
import type { AnswerProps } from "./QuestionPanel";
import { asText } from "./questionParams";
import { askerName } from "./questionSummary";
import { WholeRequest } from "./RequestParams";

const NO_LINK: LinkView = { url: "", host: "", warnings: [], is_openable: false };

export function ElicitationUrl({ question, send, edited, note }: AnswerProps) {
  const { question_id, link } = question;
  const asker = askerName(question);
  const params = fieldsOf(question.params);
  // The backend is the only judge; what it has not seen is not opened.
  const { url, host, warnings, is_openable: isOpenable } = link ?? NO_LINK;
  const [isOpened, setOpened] = useAnswerDraft(question, false, edited);
  const answer = (action: "accept" | "decline" | "cancel"): void =>
    send((force) => command("AnswerElicitation", { question_id, action, force }));
  const open = (): void => {
    window.open(url, "_blank", "noopener,noreferrer");
    setOpened(true);
  };
  return (
    <div className="stack">
      <ElicitationMessage message={params.message} />
      {url && <pre className="block">{visible(url)}</pre>}
      <Callout>
        {host ? (
          <>
            Server “{asker}” asks you to open <strong className="mono">{visible(host)}</strong>.
            Verify the domain.
          </>
        ) : (
          `Do not open this address from server “${asker}”.`
        )}
        {warnings.map((warning) => (
          <div key={warning}>{visible(warning)}</div>
        ))}
      </Callout>
      <div className="row wrap">
        <Button
          variant={isOpened ? "default" : "filled"}
          disabled={!isOpenable}
          onClick={open}
          rightSection={<Icon name="external" size={12} />}
        >
          Open
        </Button>
        <Button variant="default" disabled={!url} onClick={() => void copyText(url)}>
          Copy
        </Button>
        <div className="row" role="status">
          {isOpened && <Loader size={14} />}
          <span className="dim">
            {isOpened ? "Opened. Waiting for completion." : "Not opened yet."}
          </span>
        </div>
      </div>
      <WholeRequest question={question} isOdd={!url} />
      {params.elicitationId !== undefined && (
        <span className="dim">
          Elicitation ID: <span className="mono">{visible(asText(params.elicitationId))}</span>
        </span>
      )}
      <AnswerBar note={note}>
        <RefuseButtons onChoose={answer} />
        {/* Whoever accepts says that they were there: the main thing to do only after Open. */}
        <Button
          data-answer
          variant={isOpened ? "filled" : "default"}
          onClick={() => answer("accept")}
        >
          Accept
        </Button>
      </AnswerBar>
    </div>
  );
}
