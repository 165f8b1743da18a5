import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const RUN_ONE = fileURLToPath(new URL("./run-one.mjs", import.meta.url));

/** Runs one measurement of the plan in another process; a run with a `problem` has no figures. */
export async function runOne(planned, { url, from, timeoutMs, signal }) {
  const words = [JSON.stringify({ ...planned, url, from })];
  const child = fork(RUN_ONE, words, {
    stdio: ["ignore", "inherit", "pipe", "ipc"],
    signal,
    timeout: timeoutMs,
    killSignal: "SIGKILL",
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    said += text;
  });
  let figures;
  child.on("message", (message) => {
    figures = message;
  });
  child.on("error", () => undefined); // an abort; the exit tells the rest
  const [code, ended] = await once(child, "close");
  if (figures !== undefined && code === 0) return { ...planned, figures };
  const why = ended === "SIGKILL" ? `no end after ${timeoutMs / 1_000} s` : `ended with ${code ?? ended}`;
  return { ...planned, problem: `${why}\n${said.slice(-2_000)}` };
}
