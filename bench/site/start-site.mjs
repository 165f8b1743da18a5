import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const SERVER = fileURLToPath(new URL("./server.mjs", import.meta.url));

/** Starts the site in another process. `report` tells what was asked of it since the last `reset`. */
export async function startSite({ pages, seed }) {
  const server = fork(SERVER, [String(pages), String(seed)], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const gone = once(server, "exit").then(([code]) => {
    throw new Error(`the site's server ended with code ${code}`);
  });
  // Handled where an answer is awaited; between two questions nobody listens.
  gone.catch(() => undefined);

  const { port, bodyBytes } = await answer();
  return {
    url: `http://127.0.0.1:${port}/`,
    pages,
    bodyBytes,
    reset: () => ask("reset"),
    report: () => ask("report"),
    async stop() {
      if (server.exitCode !== null) return;
      const ended = once(server, "exit");
      server.disconnect();
      await ended;
    },
  };

  async function ask(kind) {
    const answered = answer();
    server.send({ kind });
    return (await answered).report;
  }

  async function answer() {
    const [message] = await Promise.race([once(server, "message"), gone]);
    return message;
  }
}
