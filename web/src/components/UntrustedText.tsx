import { visibleName } from "../values/hiddenCharacters";

/**
 * Text from a server: isolated from the surrounding text direction, with hidden characters made
 * visible.
 */
export const UntrustedText = ({ children }: { children: string }) => (
  <bdi>{visibleName(children)}</bdi>
);
