import { visibleName } from "../values/hiddenCharacters";

/** A name or another line that a server gave: it reads the way it runs, and hides nothing. */
export const UntrustedText = ({ children }: { children: string }) => (
  <bdi>{visibleName(children)}</bdi>
);
