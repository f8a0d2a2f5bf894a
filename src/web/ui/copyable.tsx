import { type ReactNode, useState } from "react";
import { useHub } from "../model/use-hub.ts";
import { copyText } from "./copy.ts";

export function Copyable({ text }: { readonly text: string }): ReactNode {
  const hub = useHub();
  const [copied, setCopied] = useState("");
  const copy = async (): Promise<void> => {
    if ((await hub.act(() => copyText(text))) !== undefined) setCopied(text);
  };
  return (
    <div className="copyable">
      <pre tabIndex={0}>{text}</pre>
      <button type="button" onClick={() => void copy()}>
        {copied === text ? "Copied" : "Copy"}
      </button>
    </div>
  );
}
