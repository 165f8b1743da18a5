import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const RUN_ONE = fileURLToPath(new URL("./run-one.mjs", import.meta.url));

/** Runs one planned measurement in another process. A run that failed has a `problem` instead of figures. */
export async function runOne(planned, { url, from, timeoutMs, signal }) {
  const args = [JSON.stringify({ ...planned, url, from })];
  const child = fork(RUN_ONE, args, {
    execArgv: ["--expose-gc"],
    stdio: ["ignore", "inherit", "pipe", "ipc"],
    signal,
    timeout: timeoutMs,
    killSignal: "SIGKILL",
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    stderr += text;
  });
  let figures;
  child.on("message", (message) => {
    figures = message;
  });
  child.on("error", () => undefined); // after an abort; the exit code is handled below
  const [code, ended] = await once(child, "close");
  if (figures !== undefined && code === 0) return { ...planned, figures };
  const why = ended === "SIGKILL" ? `killed after ${timeoutMs / 1_000} s` : `ended with ${code ?? ended}`;
  return { ...planned, problem: `${why}\n${stderr.slice(-2_000)}` };
}
