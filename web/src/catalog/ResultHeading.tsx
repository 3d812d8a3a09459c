// On a narrow screen, above a result from which the form has scrolled away: what was called, and the
// way to call something else.
import { Link } from "react-router";
import { UntrustedText } from "../components/UntrustedText";
import css from "./ResultHeading.module.css";

interface Props {
  name: string;
  to: string;
  /** What the link leads to: "Other tools". */
  others: string;
}

export const ResultHeading = ({ name, to, others }: Props) => (
  <div className="narrow-only">
    <div className={css.heading}>
      <strong className="cut">
        <UntrustedText>{name}</UntrustedText>
      </strong>
      <Link to={to}>{others}</Link>
    </div>
  </div>
);
