/**
 * `node clients.mjs url count '[{ "path": "/v1/jobs", "everyMs": 5000 }]'`: asks a server what so many open dashboards ask,
 * each by itself: its stream of events, read to the end of every frame, and its requests, again and again. Each line of
 * stdin opens all, or closes them if they are open; answered with a line. Ends with stdin.
 */
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const [url, count, asked] = process.argv.slice(2);
const requests = JSON.parse(asked);
let leaving;

createInterface({ input: process.stdin })
  .on("line", () => {
    if (leaving === undefined) openAll();
    else {
      leaving.abort();
      leaving = undefined;
    }
    console.log("done");
  })
  .on("close", () => process.exit(0));

function openAll() {
  leaving = new AbortController();
  const { signal } = leaving;
  for (let nth = 0; nth < Number(count); nth++) {
    untilLeft(follow(`${url}/v1/events`, signal), signal);
    // Not all at once: people do not open their tabs in the same moment.
    for (const { path, everyMs } of requests)
      untilLeft(repeat(`${url}${path}`, { everyMs, firstMs: (everyMs * nth) / Number(count), signal }), signal);
  }
}

async function untilLeft(work, signal) {
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
