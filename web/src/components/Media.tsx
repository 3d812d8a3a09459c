// Images and audio of a result or a question, served from our own origin; other types can only be
// downloaded.
import { Anchor } from "@mantine/core";
import { useMemo } from "react";
import { withBasePath } from "../api/basePath";
import { formatBytes } from "../values/format";
import { bytesOfBase64 } from "../values/json";
import { HexView } from "./HexView";
import css from "./Media.module.css";

const isSvg = (mime: string): boolean => /^image\/svg\+xml$/i.test(mime.split(";")[0] ?? "");

/** A drawing as a picture: as such, browsers run no script in it and load nothing for it. */
export function SvgPicture({ text }: { text: string }) {
  return (
    <img
      className={css.picture}
      src={`data:image/svg+xml;charset=utf-8,${encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\uFFFD"))}`}
      alt="Content of type image/svg+xml"
    />
  );
}

const PICTURE = /^image\/(png|jpe?g|gif|webp|avif|bmp)$/i;

export interface ContentSource {
  callId: string | null;
  /** Set for content of a question instead of a result. */
  questionId?: string;
  /** JSON pointer of the base64 text within the result, or within the question's params. */
  pointer: string;
}

function blobPath({ callId, questionId, pointer }: ContentSource): string | null {
  const query = new URLSearchParams({ pointer });
  if (questionId !== undefined)
    return withBasePath(`/api/questions/${encodeURIComponent(questionId)}/blob?${query}`);
  return callId === null ? null : withBasePath(`/api/blob/${encodeURIComponent(callId)}?${query}`);
}

interface Props {
  data: string;
  mime: string;
  source: ContentSource;
}

export function Media({ data, mime, source }: Props) {
  const path = blobPath(source);
  const size = Math.floor((data.length * 3) / 4);
  const about = (
    <div className="row dim">
      <span>
        {mime || "no MIME type"}, {formatBytes(size)}
      </span>
      {path && (
        <Anchor href={path} download size="xs">
          Download
        </Anchor>
      )}
    </div>
  );
  const isPicture = PICTURE.test(mime) || isSvg(mime);
  const isSound = mime.startsWith("audio/");
  if (isPicture) {
    return (
      <figure className={css.figure}>
        <img
          className={css.picture}
          // The address of a drawing only ever downloads it.
          src={path && !isSvg(mime) ? path : `data:${mime};base64,${data}`}
          alt={`Content of type ${mime}`}
        />
        {about}
      </figure>
    );
  }
  if (isSound && path) {
    return (
      <figure className={css.figure}>
        {/* biome-ignore lint/a11y/useMediaCaption: what a server sends has no captions */}
        <audio controls src={path} />
        {about}
      </figure>
    );
  }
  return (
    <div className="stack tight">
      {about}
      <Bytes data={data} />
    </div>
  );
}

function Bytes({ data }: { data: string }) {
  const raw = useMemo(() => bytesOfBase64(data), [data]);
  if (!raw) return <p className="dim">This is not valid base64.</p>;
  return <HexView data={raw} most={240} />;
}
