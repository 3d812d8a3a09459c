// Catches errors that a schema causes in the form library.
import { Component, type ReactNode } from "react";

interface Props {
  onError(why: string): void;
  children: ReactNode;
}

export class FormErrorBoundary extends Component<Props, { isBroken: boolean }> {
  override state = { isBroken: false };

  static getDerivedStateFromError(): { isBroken: boolean } {
    return { isBroken: true };
  }

  override componentDidCatch(thrown: unknown): void {
    this.props.onError(thrown instanceof Error ? thrown.message : String(thrown));
  }

  override render(): ReactNode {
    return this.state.isBroken ? null : this.props.children;
  }
}
