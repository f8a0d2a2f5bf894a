import { expect, test } from "vitest";
import { mayBeProject } from "./project-place.ts";

const HOME = "/home/u";

test.each([
  "/home/u/shop",
  "/home/u/Documents/book",
  "/home/u/bin/tools",
  "/srv/app",
  "/opt/x",
  "/tmp/x",
  "/var/www/a",
])("[POL-5] %s may be what an agent works on", (path) => {
  expect(mayBeProject(path, HOME)).toBe(true);
});

test.each([
  "/home/u",
  "/home",
  "/",
  "/home/u/",
  "/home/u/shop/..",
  "/home/u/.config/autostart",
  "/home/u/.oh-my-zsh",
  "/home/u/bin",
  "/home/u/Documents",
  "/etc",
  "/etc/apt",
  "/usr/local/bin",
  "/var/lib/x",
  "/proc/self/root/home/u",
])("[POL-5] %s is no project, whoever stands there", (path) => {
  expect(mayBeProject(path, HOME)).toBe(false);
});
