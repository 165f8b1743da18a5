// A terminal to record programs in: tmux, in a folder where `npx trawl` runs the code of this repository.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { MAIN } from "./dist.mjs";

const POLL_MS = 40;
const TIMEOUT_MS = 60_000;
let opened = 0;

/** Opens a terminal, which the caller must close. */
export function openTerminal({ columns, rows }) {
  const folder = mkdtempSync(join(tmpdir(), "trawl-record-"));
  opened += 1;
  const socket = `trawl-record-${process.pid}-${opened}`;
  const tmux = (...args) => spawnSync("tmux", ["-L", socket, ...args], { encoding: "utf8" });
  // npx searches this folder first.
  mkdirSync(join(folder, "node_modules/.bin"), { recursive: true });
  symlinkSync(MAIN, join(folder, "node_modules/.bin/trawl"));
  const quiet = ["NPM_CONFIG_USERCONFIG=/dev/null", "NPM_CONFIG_UPDATE_NOTIFIER=false", "NPM_CONFIG_LOGLEVEL=error"];
  const shell = ["env", "TERM=xterm-256color", "PS1=$ ", ...quiet, "bash", "--norc", "--noprofile"];
  const { status, error, stderr } = tmux(
    ...["-f", "/dev/null", "new-session", "-d", "-x", String(columns), "-y", String(rows), "-c", folder],
    ...shell,
  );
  if (error !== undefined) throw new Error(`tmux cannot be run: ${error.message}`);
  if (status !== 0) throw new Error(`tmux: ${stderr}`);

  const screen = () => tmux("capture-pane", "-e", "-p").stdout;

  async function until(isMet) {
    for (const startedAt = performance.now(); performance.now() - startedAt < TIMEOUT_MS; ) {
      const text = screen();
      if (isMet(plain(text))) return text;
      await sleep(POLL_MS);
    }
    throw new Error(`the terminal does not show the expected text:\n${screen()}`);
  }

  return {
    folder,
    screen,
    until,
    /** Types a command at the prompt and starts it. Resolves with the screen just before the start. */
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
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape codes are removed here
  return text.replaceAll(/\x1b\[[\d;]*m/g, "");
}
