import { useState } from "react";
import { JsonTree } from "../components/JsonTree";

/** What the server sent of a thing in its list, for who wants to see it. */
export function Definition({ listed }: { listed: unknown }) {
  const [isOpen, setOpen] = useState(false);
  if (listed === undefined) return null;
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="dim">Definition as listed</summary>
      {isOpen && <JsonTree value={listed} label="Definition" most={320} />}
    </details>
  );
}
