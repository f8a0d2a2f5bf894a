import type { ITheme } from "@xterm/xterm";

/** The page's own colours; programs' colours stay theirs. */
export function themeFor(isDark: boolean): ITheme {
  return isDark
    ? { background: "#101317", foreground: "#e6e8eb", cursor: "#74b6ff", selectionBackground: "#34506e" }
    : { ...LIGHT, background: "#ffffff", foreground: "#1b1f24", cursor: "#0b5cad", selectionBackground: "#b9d6f5" };
}

/** xterm.js's own are made for a dark ground. */
const LIGHT: ITheme = {
  black: "#1b1f24",
  red: "#b3261e",
  green: "#19703a",
  yellow: "#8a5a00",
  blue: "#0b5cad",
  magenta: "#7a3db8",
  cyan: "#0b6e78",
  white: "#6b7580",
  brightBlack: "#56606b",
  brightRed: "#c93a30",
  brightGreen: "#23854a",
  brightYellow: "#9c6a0a",
  brightBlue: "#1c6fc4",
  brightMagenta: "#8d53c9",
  brightCyan: "#17808b",
  brightWhite: "#3b444d",
};
