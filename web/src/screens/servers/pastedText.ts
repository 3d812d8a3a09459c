// What somebody pasted: a command line or a URL, or the content of a file.

/** Lines that end in a backslash go on in the next one, as in a shell. */
export const joinLines = (text: string): string => text.trim().replace(/\\\r?\n[ \t]*/g, " ");

// Markdown's fence around one line is no second line.
const unfenced = (text: string): string => /^```[\w-]*\s*\n(.*)\n```$/s.exec(text)?.[1] ?? text;

/** Also a piece of a file, which may begin with a member: `"name": {`. A quoted path is a command. */
export const isFileContent = (text: string): boolean => {
  const whole = joinLines(unfenced(joinLines(text)));
  return /^([{[]|"[^"]*"\s*:|\/[/*])/.test(whole) || /[\r\n]/.test(whole);
};

/** Whether a text says enough to be read as soon as it is pasted: one word may be the first of more. */
export const isCompleteTarget = (text: string): boolean =>
  isFileContent(text) || /\s|:\/\//.test(text.trim());
