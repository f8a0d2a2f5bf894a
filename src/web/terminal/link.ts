/** Where links in a terminal lead: to http and https alone, in a page that knows nothing of this one. Rules WEB-35 and WEB-97. */
import { shownText } from "../../domain/shown-text.ts";

const SHOWN_MAX = 300;

/** For what is printed as an address: whoever clicks has read where it leads. */
export function openLink(uri: string): void {
  const url = addressOf(uri);
  if (url === undefined) return;
  // `https://one@two` reads like the one and leads to the other.
  if (url.username !== "" || url.password !== "") openNamed(uri);
  else open(url);
}

/** For a text behind which an address lies: the text is the program's choice, so that the address is shown first. */
export function openNamed(uri: string): void {
  const url = addressOf(uri);
  if (url !== undefined && confirm(questionOf(url))) open(url);
}

export function questionOf({ host, href }: URL): string {
  const rest =
    href.length > SHOWN_MAX ? `${href.slice(0, SHOWN_MAX)} … and ${href.length - SHOWN_MAX} characters` : href;
  return `Open a page of ${host}?\n\n${shownText(rest)}`;
}

function addressOf(uri: string): URL | undefined {
  const url = URL.canParse(uri) ? new URL(uri) : undefined;
  return url?.protocol === "http:" || url?.protocol === "https:" ? url : undefined;
}

function open({ href }: URL): void {
  window.open(href, "_blank", "noopener,noreferrer");
}
