// One part of the Gateway screen: a heading, a quiet line beside it, and its content.
import type { ReactNode } from "react";
import { Link } from "react-router";
import css from "./Gateway.module.css";

interface Props {
  title: string;
  note?: ReactNode;
  children: ReactNode;
}

export function Section({ title, note, children }: Props) {
  return (
    <section className={css.section} aria-label={title}>
      <div className="row wrap">
        <h2 className={css.heading}>{title}</h2>
        {note && <span className="dim">{note}</span>}
      </div>
      {children}
    </section>
  );
}

/** Where a part of the gateway is set: the screen only shows it. */
export const SetIn = ({ setting, shown }: { setting: string; shown: string }) => (
  <>
    Set by <span className="mono">{shown}</span> in the configuration file:{" "}
    <Link to={`/settings?find=${setting}`}>see Settings</Link>
  </>
);

/** A cell that says its column where the columns stand below each other. */
export const Cell = ({
  label,
  isNumber,
  children,
}: {
  label: string;
  isNumber?: boolean;
  children: ReactNode;
}) => (
  <td data-label={label} className={isNumber ? css.number : undefined}>
    {children}
  </td>
);

/** The heads of a table; those of numbers are on the right. */
export const Heads = ({ names, numbers = [] }: { names: string[]; numbers?: string[] }) => (
  <thead>
    <tr>
      {names.map((name) => (
        <th key={name} scope="col" className={numbers.includes(name) ? css.number : undefined}>
          {name}
        </th>
      ))}
    </tr>
  </thead>
);
