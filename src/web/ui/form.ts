import type { FormEvent, MouseEvent } from "react";

/** What was filled in, by name; the page stays. */
export function filledIn(event: FormEvent<HTMLFormElement>): (name: string) => string {
  event.preventDefault();
  const form = new FormData(event.currentTarget);
  return (name) => {
    const value = form.get(name);
    return typeof value === "string" ? value.trim() : "";
  };
}

/** On a button whose press makes something: a double click makes it once. */
export function oncePressed(event: MouseEvent): void {
  if (event.detail > 1) event.preventDefault();
}
