// The bytes of a message as they came. Masked secrets are marked: masking wins over exactness, until
// the person asks for the exact bytes.
import { useEffect, useMemo, useState } from "react";
import { fetchBytes } from "../api/http";
import type { WholeEvent } from "../api/types";
import { Callout } from "../components/Callout";
import { HexView } from "../components/HexView";
import { TextView } from "../components/TextView";
import { bytesAsText } from "../values/bytesText";
import { errorMessage, formatBytes } from "../values/format";
import { hasMaskedBytes, maskedSpans } from "../values/maskedSpans";
import { ExactBytes } from "./ExactBytes";

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

/** The bytes of an event as text; exact bytes are not carried over to another event. */
export function FrameText(props: Props) {
  const { run_id, seq } = props.whole.event;
  return <BytesText key={`${run_id} ${seq}`} {...props} />;
}

/** The event itself has the first megabyte, if that is text. */
function BytesText({ whole, label, most }: Props) {
  const [exact, setExact] = useState<Uint8Array | null>(null);
  const { event, masked } = whole;
  const isPart = whole.text_is_cut || whole.text === null;
  const got = useBytes(event, isPart);
  const data = exact ?? (got && "data" in got ? got.data : null);
  const decoded = useMemo(() => (data === null ? null : bytesAsText(data)), [data]);
  const { text, tokens } = decoded ?? { text: whole.text ?? event.head, tokens: [] };
  const marks = useMemo(
    () => (tokens.length > 0 ? tokens : maskedSpans(text, masked)),
    [tokens, text, masked],
  );
  return (
    <>
      {hasMaskedBytes(masked) && (
        <ExactBytes whole={whole} isShown={exact !== null} onShow={setExact} />
      )}
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
