// Warnings about a URL that a server asks the user to open.

interface UrlReport {
  /** Null if it is not a URL. */
  host: string | null;
  /** Only http and https are ever opened. */
  isOpenable: boolean;
  warnings: string[];
}

const IPV4 = /^\d{1,3}(\.\d{1,3}){3}$/;

export function inspectUrl(text: string): UrlReport {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return {
      host: null,
      isOpenable: false,
      warnings: ["This is not a URL that a browser understands."],
    };
  }
  const warnings: string[] = [];
  const isWeb = url.protocol === "https:" || url.protocol === "http:";
  const host = url.hostname;
  const isLocal = host === "localhost" || host === "[::1]" || host.startsWith("127.");
  if (!isWeb) warnings.push(`It begins with ${url.protocol}, which mcplens does not open.`);
  if (url.protocol === "http:" && !isLocal) warnings.push("It is not encrypted (http).");
  if (url.username || url.password)
    warnings.push(
      `It has user information before the @: the site is ${host}, not what stands before it.`,
    );
  if (host.split(".").some((label) => label.startsWith("xn--")))
    warnings.push(
      "The name has characters beyond ASCII (punycode), which may imitate another name.",
    );
  if (IPV4.test(host) || host.startsWith("["))
    warnings.push(isLocal ? "It leads to this computer." : "It is a bare IP address, no name.");
  else if (host === "localhost") warnings.push("It leads to this computer.");
  else if (isWeb && !host.includes("."))
    warnings.push("The name has no dot: it leads into your own network.");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly those are looked for
  if (/[\u0000-\u001f\u200b-\u200f\u202a-\u202e\u2066-\u2069]/.test(text))
    warnings.push("It has invisible characters.");
  if (url.port && isWeb) warnings.push(`It uses the unusual port ${url.port}.`);
  return { host, isOpenable: isWeb, warnings };
}
