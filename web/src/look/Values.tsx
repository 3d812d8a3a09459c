// Values as results show them: JSON, text, Markdown, tables.
import { JsonTree } from "../components/JsonTree";
import { RichText } from "../components/RichText";
import css from "./Look.module.css";

const USERS = Array.from({ length: 24 }, (_, id) => ({
  id,
  name: `user ${id}`,
  joined: `2026-0${(id % 9) + 1}-11T09:30:00Z`,
  active: id % 3 === 0,
  address: { city: "Bern", zip: String(3000 + id) },
}));
const VALUE = {
  server: "demo",
  count: 24,
  ratio: 0.25,
  ok: true,
  none: null,
  users: USERS,
  started: 1767225600,
  logo: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
};
const MARKDOWN = `# The demo

A *small* server with **every** feature, \`code\` and a [link](https://example.com).

## Tasks

- [x] tables
- [ ] footnotes

| Name | Size |
|------|-----:|
| a    |    1 |
| b    |   20 |

\`\`\`python
def add(a: int, b: int) -> int:
    return a + b  # two numbers
\`\`\`
`;
const CSV = 'id,name,joined\n1,"Ada, Countess",1815-12-10\n2,Alan,1912-06-23\n';

export function Values() {
  return (
    <>
      <section className={css.section} aria-label="JSON">
        <h2 className="section-title">JSON</h2>
        <JsonTree value={VALUE} label="Value" most={400} />
      </section>
      <section className={css.section} aria-label="Markdown">
        <h2 className="section-title">Markdown</h2>
        <RichText text={MARKDOWN} label="Markdown" mime="text/markdown" />
      </section>
      <section className={css.section} aria-label="Table">
        <h2 className="section-title">CSV</h2>
        <RichText text={CSV} label="Table" mime="text/csv" />
      </section>
    </>
  );
}
