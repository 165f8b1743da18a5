import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const SERVER = fileURLToPath(new URL("./server.mjs", import.meta.url));

/** Starts the site in another process. `report` returns the counts of requests since the last `reset`. */
export async function startSite({ pages, seed }) {
  const server = fork(SERVER, [String(pages), String(seed)], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const exited = once(server, "exit").then(([code]) => {
    throw new Error(`the site's server ended with code ${code}`);
  });
  // `answer` handles the rejection. Between two messages nothing awaits `exited`, and an unhandled rejection would end
  // this process.
  exited.catch(() => undefined);

  const { port, bodyBytes } = await answer();
  return {
    url: `http://127.0.0.1:${port}/`,
    pages,
    bodyBytes,
    reset: () => request("reset"),
    report: () => request("report"),
    async stop() {
      if (server.exitCode !== null) return;
      const ended = once(server, "exit");
      server.disconnect();
      await ended;
    },
  };

  async function request(kind) {
    const answered = answer();
    server.send({ kind });
    return (await answered).report;
  }

  async function answer() {
    const [message] = await Promise.race([once(server, "message"), exited]);
    return message;
  }
}
