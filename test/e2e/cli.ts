/** Runs the real command line as a child process. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { MAIN } from "./dist.ts";

export type CliOptions = {
  cwd: string;
  /** Beside a clean environment: none of the caller's TRAWL_* settings. */
  env?: Readonly<Record<string, string>>;
  /** What stands on its standard input; nothing, unless given. */
  input?: string;
  /** Longer than others take, for one that starts many processes. */
  hangsAfterMs?: number;
  /** An open file that takes its stdout, in place of us. */
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
  /** Resolves when it has said something like this, on either stream; rejects if it ends before. */
  says(pattern: RegExp): Promise<void>;
  /** What it has printed until now. */
  saidSoFar(): Readonly<Pick<CliEnd, "stdout" | "stderr">>;
  kill(signal: NodeJS.Signals): void;
  /** Closes our end of its stdout, as `head` does when it has had enough. */
  stopReading(): void;
  ended: Promise<CliEnd>;
};

/** No command of these tests takes this long: one that does hangs, and its words are worth more than a timeout. */
const HANGS_AFTER_MS = 55_000;

/** Runs `trawl` to its end. */
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
  const words = { stdout: "", stderr: "" };
  const listeners = new Set<() => void>();
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (text: string) => {
      words[name] += text;
      for (const listener of listeners) listener();
    });
  }
  child.stdin?.on("error", () => {}); // it may end without reading
  child.stdin?.end(input);
  const ended = endOf(child, words, { args, hangsAfterMs });
  ended.catch(() => {}); // whoever awaits it hears of it

  return {
    pid,
    ended,
    saidSoFar: () => ({ ...words }),
    kill: (signal) => void child.kill(signal),
    stopReading: () => void child.stdout?.destroy(),
    says: (pattern) =>
      new Promise((resolve, reject) => {
        function look(): void {
          if (!pattern.test(words.stdout) && !pattern.test(words.stderr)) return;
          listeners.delete(look);
          resolve();
        }
        listeners.add(look);
        look();
        ended.then((end) => reject(new Error(`ended without saying ${pattern}: ${show(args, end)}`)), reject);
      }),
  };
}

/** The objects of JSON lines. */
export function jsonLines<T = Record<string, unknown>>(text: string): T[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as T);
}

/** What `--json` printed: the last line of stdout. */
export function lastJson<T = Record<string, unknown>>({ stdout }: CliEnd): T {
  return JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "") as T;
}

async function endOf(
  child: ChildProcess,
  words: { stdout: string; stderr: string },
  { args, hangsAfterMs }: { args: readonly string[]; hangsAfterMs: number },
) {
  let hangs = false;
  const timer = setTimeout(() => {
    hangs = true;
    child.kill("SIGKILL");
  }, hangsAfterMs);
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  clearTimeout(timer);
  const end: CliEnd = { code, signal, ...words };
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
