import headless from "@xterm/headless";
import type { ScreenRenderer } from "../../src/hub/wait-desk.ts";

/** Screens drawn by the emulator that hosts use, in this thread. */
export const emulatedScreens: ScreenRenderer = {
  open({ cols, rows, keyframe }) {
    const terminal = new headless.Terminal({ cols, rows, allowProposedApi: true });
    terminal.write(keyframe ?? "");
    return {
      feed: (bytes) => terminal.write(bytes),
      resize: (newCols, newRows) => terminal.resize(newCols, newRows),
      text: async () => {
        await new Promise<void>((resolve) => terminal.write("", resolve));
        const lines = Array.from({ length: terminal.rows }, (_, row) => terminal.buffer.active.getLine(row));
        return lines.map((it) => it?.translateToString(true) ?? "").join("\n");
      },
      close: () => terminal.dispose(),
    };
  },
};
