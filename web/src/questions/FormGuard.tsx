// Schemas come from servers under test: one that cannot be drawn must not take the question along.
import { Component, type ReactNode } from "react";

interface Props {
  children: ReactNode;
  /** The form failed to draw. */
  onFail(): void;
}

export class FormGuard extends Component<Props, { hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { hasFailed: boolean } {
    return { hasFailed: true };
  }

  override componentDidCatch(): void {
    this.props.onFail();
  }

  override render(): ReactNode {
    return this.state.hasFailed ? null : this.props.children;
  }
}
