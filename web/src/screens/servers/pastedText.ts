// Recognizes pasted text: a command line, a URL, or the content of a file.

/** Joins lines that end with a backslash, as in a shell. */
export const joinLines = (text: string): string => text.trim().replace(/\\\r?\n[ \t]*/g, " ");

// Removes a Markdown fence.
const unfenced = (text: string): string => /^```[\w-]*\s*\n(.*)\n```$/s.exec(text)?.[1] ?? text;

/**
 * Whether it is the content of a file, or a fragment such as `"name": {`. A quoted path is a
 * command.
 */
export const isFileContent = (text: string): boolean => {
  const whole = joinLines(unfenced(joinLines(text)));
  return /^([{[]|"[^"]*"\s*:|\/[/*])/.test(whole) || /[\r\n]/.test(whole);
};

/** Whether a text says enough to be read as soon as it is pasted: one word may be the first of more. */
export const isCompleteTarget = (text: string): boolean =>
  isFileContent(text) || /\s|:\/\//.test(text.trim());
