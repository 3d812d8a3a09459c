// The content of a sampling request.
import { Badge, Checkbox } from "@mantine/core";
import type { QuestionView } from "../api/types";
import { Callout } from "../components/Callout";
import { UntrustedText } from "../components/UntrustedText";
import { Message } from "../content/Message";
import { ShowMore } from "../content/ShowMore";
import { visible } from "../values/hiddenCharacters";
import { asText, type SamplingParams } from "./questionParams";
import { WholeRequest } from "./RequestParams";

interface Props {
  asked: SamplingParams;
  question: QuestionView;
}

export function SamplingRequest({ asked, question }: Props) {
  const isOdd = asked.violations.length > 0;
  return (
    <div className="stack">
      {isOdd && <Callout>This request violates the protocol. {asked.violations.join(" ")}</Callout>}
      {asked.systemPrompt !== undefined && (
        <div>
          <span className="section-title">System prompt</span>
          <pre className="block">{visible(asText(asked.systemPrompt))}</pre>
        </div>
      )}
      <ShowMore
        items={asked.messages}
        noun="message"
        render={(message, index) => (
          <Message
            key={index}
            role={message.role}
            content={message.content}
            callId={null}
            questionId={question.question_id}
            pointer={`/messages/${index}/content`}
            serverId={question.server_id}
          />
        )}
      />
      {asked.hints.length > 0 && (
        <div className="row wrap">
          <span className="dim">Model hints:</span>
          <ShowMore
            items={asked.hints}
            noun="hint"
            render={(hint, index) => <Badge key={index}>{visible(hint)}</Badge>}
          />
        </div>
      )}
      <div className="row wrap">
        {asked.facts.map(([name, value]) => (
          <span key={name}>
            <span className="dim">{name}:</span> <UntrustedText>{value}</UntrustedText>
          </span>
        ))}
      </div>
      {asked.includeContext !== undefined && (
        <Checkbox
          readOnly
          checked={asked.includeContext !== "none"}
          label={`Include context: ${asText(asked.includeContext)}`}
          onChange={() => {}}
        />
      )}
      <WholeRequest question={question} isOdd={isOdd} />
    </div>
  );
}
