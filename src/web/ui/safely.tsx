import { Component, type ReactNode } from "react";

type Around = { readonly what: string; readonly children: ReactNode };

/**
 * Whatever breaks one view, or can't be had from a hub that was renewed, must not take the others with it: who drives and STOP NOW
 * stay. Rule WEB-96.
 */
export class Safely extends Component<Around, { readonly reason: string | undefined }> {
  override state = { reason: undefined };

  static getDerivedStateFromError(error: unknown): { readonly reason: string } {
    return { reason: String(error) };
  }

  override render(): ReactNode {
    const { reason } = this.state;
    if (reason === undefined) return this.props.children;
    return (
      <div className="card bad" role="alert">
        <p>This part of the page is broken: {this.props.what}. The rest works, and sessions go on.</p>
        <p className="soft">{reason}</p>
        <div className="row">
          <button type="button" onClick={() => this.setState({ reason: undefined })}>
            Try again
          </button>
          <button type="button" onClick={() => location.reload()}>
            Load the page again
          </button>
        </div>
      </div>
    );
  }
}
