/**
 * `node clients.mjs url count '[{ "path": "/v1/jobs", "everyMs": 5000 }]'`: asks a server what so many open dashboards ask,
 * each by itself: its stream of events, read to the end of every frame, and its requests, again and again. Until SIGTERM.
 */
import { setTimeout as sleep } from "node:timers/promises";

const [url, count, asked] = process.argv.slice(2);
const requests = JSON.parse(asked);
let bytes = 0;

for (let nth = 0; nth < Number(count); nth++) {
  follow(`${url}/v1/events`);
  // Not all at once: people do not open their tabs in the same moment.
  for (const { path, everyMs } of requests) repeat(`${url}${path}`, everyMs, (everyMs * nth) / Number(count));
}
console.log("ready");
process.once("SIGTERM", () => {
  console.log(JSON.stringify({ bytes }));
  process.exit(0);
});

async function follow(address) {
  for (;;) {
    const { body } = await fetch(address, { headers: { accept: "text/event-stream" } });
    for await (const chunk of body) bytes += chunk.length;
  }
}

async function repeat(address, everyMs, firstMs) {
  await sleep(firstMs);
  for (;;) {
    bytes += (await (await fetch(address)).arrayBuffer()).byteLength;
    await sleep(everyMs);
  }
}
