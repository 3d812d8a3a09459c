// RFC 6570: the variables of a URI template, and its expansion with texts.

interface Expression {
  operator: string;
  variables: { name: string; explode: boolean; most: number | null }[];
}

interface Style {
  first: string;
  separator: string;
  isNamed: boolean;
  empty: string;
  keepsReserved: boolean;
}

const style = (
  first: string,
  separator: string,
  isNamed: boolean,
  empty: string,
  keepsReserved: boolean,
): Style => ({ first, separator, isNamed, empty, keepsReserved });
const PLAIN = style("", ",", false, "", false);
const STYLES: Record<string, Style> = {
  "+": style("", ",", false, "", true),
  "#": style("#", ",", false, "", true),
  ".": style(".", ".", false, "", false),
  "/": style("/", "/", false, "", false),
  ";": style(";", ";", true, "", false),
  "?": style("?", "&", true, "=", false),
  "&": style("&", "&", true, "=", false),
};

function parse(inside: string): Expression {
  const operator = STYLES[inside[0] ?? ""] ? (inside[0] ?? "") : "";
  const variables = inside
    .slice(operator.length)
    .split(",")
    .filter(Boolean)
    .map((text) => {
      const [, name = text, mark = ""] = /^([^*:]+)(\*|:\d+)?$/.exec(text) ?? [];
      return {
        name,
        explode: mark === "*",
        most: mark.startsWith(":") ? Number(mark.slice(1)) : null,
      };
    });
  return { operator, variables };
}

/** The names in a template, in order, each once. */
export function variablesOf(template: string): string[] {
  const names = [...template.matchAll(/\{([^{}]+)\}/g)].flatMap((match) =>
    parse(match[1] ?? "").variables.map((one) => one.name),
  );
  return [...new Set(names)];
}

const strict = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
const lenient = (text: string): string =>
  encodeURI(text)
    .replaceAll("%25", "%")
    .replace(/%(?![0-9a-f]{2})/gi, "%25")
    .replaceAll("%5B", "[")
    .replaceAll("%5D", "]");

function expandOne(expression: Expression, values: Record<string, string>): string {
  const { first, separator, isNamed, empty, keepsReserved } = STYLES[expression.operator] ?? PLAIN;
  const encode = keepsReserved ? lenient : strict;
  const parts: string[] = [];
  for (const { name, explode, most } of expression.variables) {
    const given = values[name];
    // A variable without a value is left out, with its separator.
    if (given === undefined || given === "") continue;
    const texts = explode
      ? given.split(",")
      : [most === null ? given : [...given].slice(0, most).join("")];
    for (const text of texts) {
      const encoded = encode(text);
      parts.push(isNamed ? `${name}${encoded ? `=${encoded}` : empty}` : encoded);
    }
  }
  return parts.length ? first + parts.join(separator) : "";
}

export const expand = (template: string, values: Record<string, string>): string =>
  template.replace(/\{([^{}]+)\}/g, (_, inside: string) => expandOne(parse(inside), values));

/** Whether a URI may match a template, by the literal parts. */
export function matches(template: string, uri: string): boolean {
  const [first = "", ...between] = template.split(/\{[^{}]+\}/);
  const last = between.pop();
  if (last === undefined || !uri.startsWith(first)) return false;
  let at = first.length;
  for (const text of between) {
    const found = uri.indexOf(text, at);
    if (found < 0) return false;
    at = found + text.length;
  }
  return uri.endsWith(last) && uri.length - last.length >= at;
}
