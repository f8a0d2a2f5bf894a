/**
 * Watches for what announces a secret over several bytes that are public themselves and so are never held: the `--`
 * of an option, `Bearer`, `://user:` of a URL, the BEGIN line of a private key.
 */
import { belongs, byteClass, COLON, DASH, SPACE } from "./byte-class.ts";

/** `watch`: not over yet. `gone`: it announced nothing. Else what begins behind this byte. */
export type Announcement = "watch" | "gone" | "option" | "bearer" | "url" | "pem";

export type Herald = { take(byte: number): Announcement };

const LETTER = byteClass("A-Z", "a-z");
const OPTION_NAME = byteClass("A-Z", "a-z", "0-9", "_-");
const USER = byteClass("A-Z", "a-z", "0-9", "-._~%!$&*+,;=");
const PEM_LABEL = byteClass("A-Z", "0-9", " ");
const PEM_LABEL_LIMIT = 48;
const NAME_LIMIT = 128;
const SLASH = 0x2f;

/** Behind `--`. */
export function optionHerald(): Herald {
  let length = 0;
  return {
    take: (byte) => {
      length += 1;
      if (length === 1 && !belongs(LETTER, byte)) return "gone";
      if (belongs(OPTION_NAME, byte)) return length > NAME_LIMIT ? "gone" : "watch";
      return byte === SPACE ? "option" : "gone";
    },
  };
}

/** Behind the `B` of `Bearer `. */
export function bearerHerald(): Herald {
  let rest = "earer ";
  return {
    take: (byte) => {
      if (rest.charCodeAt(0) !== byte) return "gone";
      rest = rest.slice(1);
      return rest === "" ? "bearer" : "watch";
    },
  };
}

/** Behind `:/` of a URL. */
export function urlHerald(): Herald {
  let length = 0;
  return {
    take: (byte) => {
      length += 1;
      if (length === 1) return byte === SLASH ? "watch" : "gone";
      if (byte === COLON) return "url";
      return belongs(USER, byte) && length <= NAME_LIMIT ? "watch" : "gone";
    },
  };
}

/** Behind `-----B`. */
export function pemHerald(): Herald {
  let label = "B";
  let dashes = 0;
  return {
    take: (byte) => {
      if (byte === DASH) {
        dashes += 1;
        if (!/^BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?$/.test(label)) return "gone";
        return dashes === 5 ? "pem" : "watch";
      }
      if (dashes > 0 || label.length > PEM_LABEL_LIMIT || !belongs(PEM_LABEL, byte)) return "gone";
      label += String.fromCharCode(byte);
      return "watch";
    },
  };
}
