/** A terminal of its own for a command, by script(1), and what can be read on its screen. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { onTestFinished } from "vitest";
import { waitUntil } from "../../services/wait-until.ts";
import { MAIN } from "../dist.ts";

export type Pty = {
  type(keys: string): void;
  /** The lines of its screen now. */
  screen(): string[];
  shows(pattern: RegExp): Promise<boolean>;
  resize(columns: number, rows: number): void;
  /** A signal to the command itself. */
  signal(name: NodeJS.Signals): void;
  /** All that it was sent, once it has ended. */
  ended: Promise<string>;
};

const LONG_MS = 30_000;

/** `undefined` where this machine has no such program. */
export const PTY_OBSTACLE = spawnSync("script", ["--version"]).status === 0 ? undefined : "no script(1) of util-linux";

/** What the terminal is set to is printed after the command's end: `icanon`, `echo`. */
export function inPty(args: readonly string[], options: { cwd: string; columns: number; rows: number }): Pty {
  const { cwd, columns, rows } = options;
  const words = [process.execPath, MAIN, ...args].map((word) => `'${word}'`).join(" ");
  const command = `echo "shell=$$ tty=$(tty)"; stty cols ${columns} rows ${rows}; ${words}; echo "code=$?"; stty -a`;
  const env = { ...process.env, TERM: "xterm-256color", SHELL: "/bin/sh", NO_COLOR: "1" };
  const child = spawn("script", ["-qfec", command, "/dev/null"], { cwd, env });
  onTestFinished(() => void child.kill("SIGKILL"));
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const word = (name: string) => new RegExp(`${name}=(\\S+)`).exec(said)?.[1] ?? "";
  return {
    type: (keys) => void child.stdin.write(keys),
    screen: () => screenOf(said),
    shows: (pattern) => waitUntil(() => pattern.test(screenOf(said).join("\n")), LONG_MS, 20),
    resize: (cols, lines) => void spawnSync("stty", ["-F", word("tty"), "cols", String(cols), "rows", String(lines)]),
    signal(name) {
      const shell = word("shell");
      const [pid] = readFileSync(`/proc/${shell}/task/${shell}/children`, "utf8").split(" ");
      process.kill(Number(pid), name);
    },
    ended: once(child, "close").then(() => said),
  };
}

const SEQUENCE = new RegExp(`${"\x1b"}\\[([0-9;?]*)([A-Za-z])|([^${"\x1b"}])`, "gu");

/** As little of a terminal as is needed to see what a person sees, while the whole screen is taken. */
function screenOf(said: string): string[] {
  const taken = said.slice(said.lastIndexOf("\x1b[?1049h"));
  let [row, column] = [0, 0];
  let lines: string[][] = [];
  for (const [, numbers = "", verb, char] of taken.matchAll(SEQUENCE)) {
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
      lines = []; // the whole screen: there is no other use of it
    }
  }
  return Array.from(lines, (line = []) => [...line].map((char) => char ?? " ").join(""));
}
