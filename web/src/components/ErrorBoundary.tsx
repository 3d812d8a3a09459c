// Contains render errors, so that one bad value does not take down the page.
import { Component, type ReactNode } from "react";
import { errorMessage } from "../values/format";
import { pretty } from "../values/json";
import { Callout } from "./Callout";

interface Props {
  /** What is rendered, as text: "this result". */
  what: string;
  /** The rendered value; another value resets the boundary. */
  raw: unknown;
  children: ReactNode;
}

interface State {
  problem: string | null;
  raw: unknown;
}

/** Any value as text; must not throw. */
function asText(raw: unknown): string {
  try {
    return pretty(raw);
  } catch {
    return String(raw);
  }
}

export class ErrorBoundary extends Component<Props, State> {
  override state: State = { problem: null, raw: this.props.raw };

  static getDerivedStateFromError(thrown: unknown): Partial<State> {
    return { problem: errorMessage(thrown) };
  }

  static getDerivedStateFromProps(props: Props, state: State): State | null {
    return props.raw === state.raw ? null : { problem: null, raw: props.raw };
  }

  override render(): ReactNode {
    const { problem } = this.state;
    if (problem === null) return this.props.children;
    return (
      <div className="stack tight">
        <Callout>
          Could not display {this.props.what} ({problem}).
        </Callout>
        <pre className="block">{asText(this.props.raw)}</pre>
      </div>
    );
  }
}
