// The frame that carried the result of a call, byte by byte.
import { useEffect, useState } from "react";
import { Link } from "react-router";
import { fetchReply } from "../api/http";
import type { CallView, WholeEvent } from "../api/types";
import { Callout } from "../components/Callout";
import { FrameText } from "../events/FrameText";
import { pathToCallTraffic } from "../state/navigation";
import { maskedKeys } from "../state/wholeEvent";
import { errorMessage, formatBytes } from "../values/format";
import css from "./CallPanel.module.css";

type Reply = { of: string } & ({ whole: WholeEvent } | { problem: string });

export function RawReply({ call }: { call: CallView }) {
  const { call_id } = call;
  const [reply, setReply] = useState<Reply | null>(null);
  useEffect(() => {
    let isGone = false;
    fetchReply(call_id).then(
      (whole) => !isGone && setReply({ of: call_id, whole }),
      (thrown) => !isGone && setReply({ of: call_id, problem: errorMessage(thrown) }),
    );
    return () => {
      isGone = true;
    };
  }, [call_id]);
  if (reply?.of !== call_id) return <p className="dim">Loading…</p>;
  if ("problem" in reply) return <Callout>{reply.problem}</Callout>;
  const masked = maskedKeys(reply.whole.masked);
  return (
    <div className="stack tight">
      {masked.length > 0 && (
        <Callout tone="info">
          mcplens masked the value of {masked.join(", ")}; it is marked.
        </Callout>
      )}
      <span className="row wrap">
        <span className="dim">{formatBytes(reply.whole.event.size_bytes)}, as they came</span>
        <Link
          className={css.link}
          to={pathToCallTraffic(call, reply.whole.event.seq)}
          state={{ tab: "hex" }}
        >
          Hex in Traffic
        </Link>
      </span>
      <FrameText whole={reply.whole} label="Message as it came" most={640} />
    </div>
  );
}
