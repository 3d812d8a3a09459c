// The scales and colours of tokens.css, read from the style sheets so that none can be forgotten.
import css from "./Look.module.css";

function tokenNames(): string[] {
  const names = new Set<string>();
  for (const sheet of document.styleSheets)
    for (const rule of sheet.cssRules)
      if (rule instanceof CSSStyleRule && rule.selectorText === ":root")
        for (const name of rule.style) if (!name.startsWith("--mantine")) names.add(name);
  return [...names];
}

const isColour = (name: string): boolean => CSS.supports("color", measured(name));
const measured = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export function Tokens() {
  const names = tokenNames();
  return (
    <>
      <section className={css.section} aria-label="Colours">
        <h2 className="section-title">Colours</h2>
        <div className={css.grid}>
          {names.filter(isColour).map((name) => (
            <div key={name} className={css.swatch} data-token={name}>
              <span className={css.colour} style={{ background: `var(${name})` }} />
              <span className="mono">{name.slice(2)}</span>
            </div>
          ))}
        </div>
      </section>
      <section className={css.section} aria-label="Type">
        <h2 className="section-title">Type</h2>
        {["meta", "table", "body", "section", "title"].map((name) => (
          <div key={name} style={{ fontSize: `var(--text-${name})` }}>
            {name} · Inter 0123456789 · Ελληνικά · Кириллица ·{" "}
            <span style={{ fontFamily: "var(--mono)" }}>{'{"id": 0, "a -> b": true}'}</span>
          </div>
        ))}
      </section>
      <section className={css.section} aria-label="Measures">
        <h2 className="section-title">Space, corners, shadow</h2>
        {names
          .filter((name) => name.startsWith("--space-"))
          .map((name) => (
            <div key={name} className={css.swatch} data-token={name}>
              <span className={css.measure} style={{ width: `var(${name})` }} />
              <span className="mono">
                {name.slice(2)} {measured(name)}
              </span>
            </div>
          ))}
        <div className="row wrap">
          {["--radius-mark", "--radius-control", "--radius-panel"].map((name) => (
            <div key={name} className="stack tight" data-token={name}>
              <div className={css.corner} style={{ borderRadius: `var(${name})` }} />
              <span className="mono">{name.slice(2)}</span>
            </div>
          ))}
          <div className="stack tight" data-token="--shadow">
            <div className={`${css.corner} ${css.floating}`} />
            <span className="mono">shadow</span>
          </div>
        </div>
      </section>
    </>
  );
}
