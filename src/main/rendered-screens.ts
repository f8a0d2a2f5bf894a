/** Screens for waits: the same emulator as the host's, in a thread of the hub that starts when a wait asks for one. */
import type { Screen, Screens } from "../host/terminal/screen/screens.ts";
import type { ScreenRenderer } from "../hub/wait-desk.ts";

export class RenderedScreens implements ScreenRenderer {
  #screens: Promise<Screens> | undefined;

  open(options: { readonly keyframe?: string; readonly cols: number; readonly rows: number }) {
    const screen = this.#open().then((screens) => screens.create(options));
    const then = (act: (it: Screen) => void): void => void screen.then(act, () => undefined);
    return {
      feed: (bytes: Uint8Array) => then((it) => it.feed(bytes)),
      resize: (cols: number, rows: number) => then((it) => it.resize(cols, rows)),
      text: async () => (await (await screen).read()).lines.join("\n"),
      close: () => then((it) => it.close()),
    };
  }

  async close(): Promise<void> {
    const screens = await this.#screens?.catch(() => undefined);
    await screens?.close();
  }

  #open(): Promise<Screens> {
    const screens = (this.#screens ??= import("../host/terminal/screen/screens.ts").then((it) => it.Screens.open()));
    screens.catch(() => (this.#screens = undefined)); // tried again by whoever asks next
    return screens;
  }
}
