/** Runs a command in its own terminal, with script(1), and reads the screen of that terminal. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { onTestFinished } from "vitest";
import { waitUntil } from "../../services/wait-until.ts";
import { MAIN } from "../dist.ts";

export type Pty = {
  type(keys: string): void;
  /** The lines that the screen shows now. */
  screen(): string[];
  shows(pattern: RegExp): Promise<boolean>;
  resize(columns: number, rows: number): void;
  /** Sends a signal to the command itself. */
  signal(name: NodeJS.Signals): void;
  /** Resolves when the command has ended, with everything that was sent to the terminal. */
  ended: Promise<string>;
};

const TIMEOUT_MS = 30_000;

/** Why no command can run in a terminal on this machine; undefined if it can. */
export const PTY_OBSTACLE = spawnSync("script", ["--version"]).status === 0 ? undefined : "no script(1) of util-linux";

/** After the command has ended, the settings of the terminal are printed, such as `icanon` and `echo`. */
export function startInPty(args: readonly string[], options: { cwd: string; columns: number; rows: number }): Pty {
  const { cwd, columns, rows } = options;
  const quoted = [process.execPath, MAIN, ...args].map((arg) => `'${arg}'`).join(" ");
  const command = `echo "shell=$$ tty=$(tty)"; stty cols ${columns} rows ${rows}; ${quoted}; echo "code=$?"; stty -a`;
  const env = { ...process.env, TERM: "xterm-256color", SHELL: "/bin/sh", NO_COLOR: "1" };
  const child = spawn("script", ["-qfec", command, "/dev/null"], { cwd, env });
  onTestFinished(() => void child.kill("SIGKILL"));
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const printed = (name: string) => new RegExp(`${name}=(\\S+)`).exec(output)?.[1] ?? "";
  return {
    type: (keys) => void child.stdin.write(keys),
    screen: () => screenOf(output),
    shows: (pattern) => waitUntil(() => pattern.test(screenOf(output).join("\n")), TIMEOUT_MS, 20),
    resize: (cols, lines) =>
      void spawnSync("stty", ["-F", printed("tty"), "cols", String(cols), "rows", String(lines)]),
    signal(name) {
      const shell = printed("shell");
      const [pid] = readFileSync(`/proc/${shell}/task/${shell}/children`, "utf8").split(" ");
      process.kill(Number(pid), name);
    },
    ended: once(child, "close").then(() => output),
  };
}

const SEQUENCE = new RegExp(`${"\x1b"}\\[([0-9;?]*)([A-Za-z])|([^${"\x1b"}])`, "gu");

/** Emulates the few terminal sequences that `trawl top` uses while it draws the alternate screen. */
function screenOf(output: string): string[] {
  const drawn = output.slice(output.lastIndexOf("\x1b[?1049h"));
  let [row, column] = [0, 0];
  let lines: string[][] = [];
  for (const [, numbers = "", verb, char] of drawn.matchAll(SEQUENCE)) {
    if (char !== undefined) {
      const line = lines[row] ?? [];
      lines[row] = line;
      line[column] = char;
      column += 1;
    } else if (verb === "H") {
      [row = 0, column = 0] = numbers.split(";").map((number) => Number(number) - 1);
    } else if (verb === "K") {
      lines[row] = (lines[row] ?? []).slice(0, column);
    } else if (verb === "J") {
      lines = []; // `trawl top` uses this sequence only to clear the whole screen
    }
  }
  return Array.from(lines, (line = []) => [...line].map((char) => char ?? " ").join(""));
}
