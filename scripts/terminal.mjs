// A real terminal to record programs in: tmux, in a folder where `npx trawl` is the one of this repository.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { MAIN } from "./dist.mjs";

const LOOK_EVERY_MS = 40;
const GIVE_UP_MS = 60_000;
let opened = 0;

/** Close it, whatever happens. */
export function openTerminal({ columns, rows }) {
  const folder = mkdtempSync(join(tmpdir(), "trawl-record-"));
  opened += 1;
  const socket = `trawl-record-${process.pid}-${opened}`;
  const tmux = (...words) => spawnSync("tmux", ["-L", socket, ...words], { encoding: "utf8" });
  // Where npx looks first.
  mkdirSync(join(folder, "node_modules/.bin"), { recursive: true });
  symlinkSync(MAIN, join(folder, "node_modules/.bin/trawl"));
  const quiet = ["NPM_CONFIG_USERCONFIG=/dev/null", "NPM_CONFIG_UPDATE_NOTIFIER=false", "NPM_CONFIG_LOGLEVEL=error"];
  const shell = ["env", "TERM=xterm-256color", "PS1=$ ", ...quiet, "bash", "--norc", "--noprofile"];
  const { status, error, stderr } = tmux(
    ...["-f", "/dev/null", "new-session", "-d", "-x", String(columns), "-y", String(rows), "-c", folder],
    ...shell,
  );
  if (error !== undefined) throw new Error(`tmux is needed, and cannot be run: ${error.message}`);
  if (status !== 0) throw new Error(`tmux: ${stderr}`);

  const look = () => tmux("capture-pane", "-e", "-p").stdout;

  async function until(isThere) {
    for (const startedAt = performance.now(); performance.now() - startedAt < GIVE_UP_MS; ) {
      const screen = look();
      if (isThere(plain(screen))) return screen;
      await sleep(LOOK_EVERY_MS);
    }
    throw new Error(`the terminal does not show what it should:\n${look()}`);
  }

  return {
    folder,
    look,
    until,
    /** Types a command at the prompt, and resolves with how that looked when it is started. */
    async type(command) {
      await until((screen) => screen.trim() === "$");
      tmux("send-keys", "-l", command);
      const typed = await until((screen) => screen.includes(command));
      tmux("send-keys", "Enter");
      return typed;
    },
    close() {
      tmux("kill-server");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export function plain(text) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape codes are what is to go
  return text.replaceAll(/\x1b\[[\d;]*m/g, "");
}
