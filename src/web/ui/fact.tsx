import type { ReactNode } from "react";

/** A line of `<dl className="facts">`; nothing where nothing is known. */
export function Fact({ name, value }: { readonly name: string; readonly value: string }): ReactNode {
  if (value === "") return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
