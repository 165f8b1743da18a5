/**
 * `node clients.mjs url count '[{ "path": "/v1/jobs", "everyMs": 5000 }]'`: sends the requests of `count` open
 * dashboards to a server. Each client reads its own event stream and repeats the given requests. A line on stdin opens
 * all clients, or closes them if they are open; the reply is a line on stdout. The process ends when stdin is closed.
 */
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const [url, count, list] = process.argv.slice(2);
const requests = JSON.parse(list);
let closing;

createInterface({ input: process.stdin })
  .on("line", () => {
    if (closing === undefined) openAll();
    else {
      closing.abort();
      closing = undefined;
    }
    console.log("done");
  })
  .on("close", () => process.exit(0));

function openAll() {
  closing = new AbortController();
  const { signal } = closing;
  for (let nth = 0; nth < Number(count); nth++) {
    untilClosed(follow(`${url}/v1/events`, signal), signal);
    // The clients start at different times, like tabs of different users.
    for (const { path, everyMs } of requests)
      untilClosed(repeat(`${url}${path}`, { everyMs, firstMs: (everyMs * nth) / Number(count), signal }), signal);
  }
}

async function untilClosed(work, signal) {
  await work.catch((cause) => {
    if (!signal.aborted) throw cause;
  });
}

async function follow(address, signal) {
  for (;;) {
    const { body } = await fetch(address, { headers: { accept: "text/event-stream" }, signal });
    for await (const _ of body);
  }
}

async function repeat(address, { everyMs, firstMs, signal }) {
  await sleep(firstMs, undefined, { signal });
  for (;;) {
    await (await fetch(address, { signal })).arrayBuffer();
    await sleep(everyMs, undefined, { signal });
  }
}
