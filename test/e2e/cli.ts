/** Runs the built command line in a child process. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { MAIN } from "./dist.ts";

export type CliOptions = {
  cwd: string;
  /** Added to the environment of the caller without its TRAWL_* settings. */
  env?: Readonly<Record<string, string>>;
  /** Text for stdin; empty by default. */
  input?: string;
  /** The command is killed after this time. Commands that start many processes need more than the default. */
  hangsAfterMs?: number;
  /** A file descriptor for stdout. Without it, `CliEnd.stdout` contains the output. */
  stdoutTo?: number;
};

export type CliEnd = {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
};

export type RunningCli = {
  pid: number;
  /** Resolves when stdout or stderr matches the pattern. Rejects if the process ends before. */
  prints(pattern: RegExp): Promise<void>;
  /** All output until now. */
  output(): Readonly<Pick<CliEnd, "stdout" | "stderr">>;
  kill(signal: NodeJS.Signals): void;
  /** Closes the reading end of stdout, like `head` after its last line. */
  stopReading(): void;
  ended: Promise<CliEnd>;
};

/** A command that takes longer is killed. The error contains its output, which a timeout of the test would not show. */
const HANGS_AFTER_MS = 150_000;

/** Runs `trawl` and waits for its end. */
export function trawl(args: readonly string[], options: CliOptions): Promise<CliEnd> {
  return startTrawl(args, options).ended;
}

export function startTrawl(args: readonly string[], options: CliOptions): RunningCli {
  const { cwd, env = {}, input = "", stdoutTo = "pipe", hangsAfterMs = HANGS_AFTER_MS } = options;
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd,
    env: { ...cleanEnvironment(), ...env },
    stdio: ["pipe", stdoutTo, "pipe"],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${process.execPath} cannot be started`);
  const output = { stdout: "", stderr: "" };
  const listeners = new Set<() => void>();
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
      for (const listener of listeners) listener();
    });
  }
  child.stdin?.on("error", () => {}); // the process may end without reading its stdin
  child.stdin?.end(input);
  const ended = endOf(child, output, { args, hangsAfterMs });
  ended.catch(() => {}); // the test that awaits it gets the error

  return {
    pid,
    ended,
    output: () => ({ ...output }),
    kill: (signal) => void child.kill(signal),
    stopReading: () => void child.stdout?.destroy(),
    prints: (pattern) =>
      new Promise((resolve, reject) => {
        function check(): void {
          if (!pattern.test(output.stdout) && !pattern.test(output.stderr)) return;
          listeners.delete(check);
          resolve();
        }
        listeners.add(check);
        check();
        ended.then((end) => reject(new Error(`ended without printing ${pattern}: ${show(args, end)}`)), reject);
      }),
  };
}

/** Parses JSON lines. */
export function jsonLines<T = Record<string, unknown>>(text: string): T[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as T);
}

/** The object that `--json` printed: the last line of stdout. */
export function lastJson<T = Record<string, unknown>>({ stdout }: CliEnd): T {
  return JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "") as T;
}

async function endOf(
  child: ChildProcess,
  output: { stdout: string; stderr: string },
  { args, hangsAfterMs }: { args: readonly string[]; hangsAfterMs: number },
) {
  let hangs = false;
  const timer = setTimeout(() => {
    hangs = true;
    child.kill("SIGKILL");
  }, hangsAfterMs);
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  clearTimeout(timer);
  const end: CliEnd = { code, signal, ...output };
  if (hangs) throw new Error(`still running after ${hangsAfterMs} ms: ${show(args, end)}`);
  return end;
}

function cleanEnvironment(): NodeJS.ProcessEnv {
  const unwanted = /^(TRAWL_|NODE_OPTIONS$|VITEST|FORCE_COLOR$)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !unwanted.test(name)));
}

function show(args: readonly string[], { code, signal, stdout, stderr }: CliEnd): string {
  return `trawl ${args.join(" ")} (exit ${code ?? signal})\nstdout: ${stdout.slice(-2000)}\nstderr: ${stderr.slice(-4000)}`;
}
