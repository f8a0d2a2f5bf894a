import type { ReactNode } from "react";
import { shownText } from "../../domain/shown-text.ts";
import { Dialog } from "../ui/dialog.tsx";
import { hasControls, withoutControls } from "./paste-text.ts";

type Pasting = { readonly text: string; readonly onPaste: (text: string) => void; readonly onClose: () => void };

/** More isn't read anyway; how much there is, is said. */
const SHOWN_MAX = 20_000;

export function PasteDialog({ text, onPaste, onClose }: Pasting): ReactNode {
  const lines = text.split(/\r\n|\r|\n/u).length;
  const paste = (chosen: string) => (): void => {
    onPaste(chosen);
    onClose();
  };
  return (
    <Dialog title={lines > 1 ? `Paste ${lines} lines?` : "Paste this?"} onClose={onClose}>
      <p className="soft">
        {lines > 1 && "A shell may run each line as soon as it has it. "}
        {hasControls(text) && "It holds control characters, which are shown as \\u{…}."}
      </p>
      <pre className="pasted" tabIndex={0}>
        {shownText(text.replaceAll(/\r\n|\r/gu, "\n").slice(0, SHOWN_MAX))}
        {text.length > SHOWN_MAX && `\n… ${text.length - SHOWN_MAX} more characters`}
      </pre>
      <div className="row">
        <button className="main" type="button" onClick={paste(withoutControls(text))}>
          {hasControls(text) ? "Paste without control characters" : "Paste"}
        </button>
        {hasControls(text) && (
          <button type="button" onClick={paste(text)}>
            Paste as it is
          </button>
        )}
        <button type="button" autoFocus onClick={onClose}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}
