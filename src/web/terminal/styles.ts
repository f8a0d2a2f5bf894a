/**
 * xterm.js makes style elements by script; the page's policy admits those that carry its nonce. Nothing else in the page makes
 * any. It colours single letters by the attribute, which the policy forbids; the same by script is allowed.
 */
let isLet = false;

export function letTerminalsStyle(): void {
  if (isLet) return;
  isLet = true;
  const nonce = document.querySelector<HTMLMetaElement>("meta[property=csp-nonce]")?.nonce ?? "";
  const make = document.createElement.bind(document);
  document.createElement = (name: string, options?: ElementCreationOptions) => {
    const element = make(name, options);
    if (element instanceof HTMLStyleElement) element.nonce = nonce;
    return element;
  };
  HTMLSpanElement.prototype.setAttribute = function setAttribute(name: string, value: string): void {
    if (name === "style") this.style.cssText = value;
    else Element.prototype.setAttribute.call(this, name, value);
  };
}
