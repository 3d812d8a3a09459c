// The bytes of a message as they came. Masked secrets are marked: masking wins over exactness.
import { useEffect, useMemo, useState } from "react";
import { fetchBytes } from "../api/http";
import type { WholeEvent } from "../api/types";
import { Callout } from "../components/Callout";
import { HexView } from "../components/HexView";
import { TextView } from "../components/TextView";
import { bytesAsText } from "../values/bytesText";
import { errorMessage, formatBytes } from "../values/format";
import { maskedSpans } from "../values/maskedSpans";

interface Place {
  run_id: string;
  seq: number;
}

type Bytes = { data: Uint8Array } | { problem: string };

/** Null until they are loaded, and if they are not wanted. */
function useBytes({ run_id, seq }: Place, isWanted = true): Bytes | null {
  const [got, setGot] = useState<Bytes | null>(null);
  useEffect(() => {
    let isGone = false;
    setGot(null);
    if (isWanted)
      fetchBytes(run_id, seq).then(
        (data) => !isGone && setGot({ data }),
        (thrown) => !isGone && setGot({ problem: errorMessage(thrown) }),
      );
    return () => {
      isGone = true;
    };
  }, [run_id, seq, isWanted]);
  return got;
}

/** The bytes of an event in hexadecimal. */
export function FrameBytes(place: Place) {
  const got = useBytes(place);
  if (got === null) return <p className="dim">Loading…</p>;
  if ("problem" in got) return <Callout>The bytes could not be loaded: {got.problem}</Callout>;
  return <HexView data={got.data} />;
}

interface Props {
  whole: WholeEvent;
  label: string;
  most?: number;
}

/** The bytes of an event as text; the event itself has the first megabyte, if that is text. */
export function FrameText({ whole, label, most }: Props) {
  const { event, masked } = whole;
  const isPart = whole.text_is_cut || whole.text === null;
  const got = useBytes(event, isPart);
  const data = got && "data" in got ? got.data : null;
  const decoded = useMemo(() => (data === null ? null : bytesAsText(data)), [data]);
  const { text, tokens } = decoded ?? { text: whole.text ?? event.head, tokens: [] };
  const marks = useMemo(
    () => (tokens.length > 0 ? tokens : maskedSpans(text, masked)),
    [tokens, text, masked],
  );
  return (
    <>
      <TextView text={text} label={label} most={most} marks={marks} />
      {isPart && got === null && (
        <p className="dim">Loading the rest of {formatBytes(event.size_bytes)}…</p>
      )}
      {got && "problem" in got && (
        <Callout>The rest of the bytes could not be loaded: {got.problem}</Callout>
      )}
    </>
  );
}
