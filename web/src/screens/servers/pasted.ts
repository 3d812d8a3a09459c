// What somebody pasted: a command line or a URL, or the content of a file.

/** Lines that end in a backslash go on in the next one, as in a shell. */
export const joined = (text: string): string => text.trim().replace(/\\\r?\n[ \t]*/g, " ");

export const isFile = (text: string): boolean => {
  const whole = joined(text);
  return /^[{[]/.test(whole) || /[\r\n]/.test(whole);
};
