// Keeps what cannot be drawn to its own place: one bad value never takes the page away.
import { Component, type ReactNode } from "react";
import { errorMessage } from "../values/format";
import { pretty } from "../values/json";
import { Callout } from "./Callout";

interface Props {
  /** What is drawn, in words: "this result". */
  what: string;
  /** The value that it is drawn from; another one is tried anew. */
  raw: unknown;
  children: ReactNode;
}

interface State {
  problem: string | null;
  raw: unknown;
}

/** A value as text, whatever it is: here nothing may fail. */
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
          This could not be drawn: {this.props.what} ({problem}).
        </Callout>
        <pre className="block">{asText(this.props.raw)}</pre>
      </div>
    );
  }
}
