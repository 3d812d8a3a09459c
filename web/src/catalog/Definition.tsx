import { useState } from "react";
import { JsonTree } from "../components/JsonTree";

/** An item's definition as the server listed it, collapsed. */
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
