// All that a server sends along when it asks for a model's answer.
import { Badge, Checkbox } from "@mantine/core";
import { Message } from "../calls/Message";
import { Callout } from "../parts/Callout";
import { JsonTree } from "../parts/JsonTree";
import { type AskedSampling, shown } from "./asked";

interface Props {
  asked: AskedSampling;
  params: unknown;
  serverId: string;
  questionId: string;
}

export function SamplingRequest({ asked, params, serverId, questionId }: Props) {
  return (
    <div className="stack">
      {asked.oddities.length > 0 && (
        <>
          <Callout>
            This request is not as the protocol has it. {asked.oddities.join(" ")} All of it:
          </Callout>
          <JsonTree value={params} label="Request" most={260} withSearch={false} />
        </>
      )}
      {asked.systemPrompt !== undefined && (
        <div>
          <span className="section-title">System prompt</span>
          <pre className="block">{shown(asked.systemPrompt)}</pre>
        </div>
      )}
      {asked.messages.map((message, index) => (
        <Message
          key={index}
          role={message.role}
          content={message.content}
          callId={null}
          questionId={questionId}
          pointer={`/messages/${index}/content`}
          serverId={serverId}
        />
      ))}
      {asked.hints.length > 0 && (
        <div className="row wrap">
          <span className="dim">Model hints:</span>
          {asked.hints.map((hint, index) => (
            <Badge key={index}>{hint}</Badge>
          ))}
        </div>
      )}
      <div className="row wrap">
        {asked.facts.map(([name, value]) => (
          <span key={name}>
            <span className="dim">{name}:</span> {value}
          </span>
        ))}
      </div>
      {asked.includeContext !== undefined && (
        <Checkbox
          readOnly
          checked={asked.includeContext !== "none"}
          label={`Include context: ${shown(asked.includeContext)}`}
          onChange={() => {}}
        />
      )}
    </div>
  );
}
