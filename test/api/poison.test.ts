/** Jobs that mean harm to those who fetch them: they end, and the worker goes on with those of others. */
import { expect, it } from "vitest";
import { resolveConfig } from "../../src/config/resolve.ts";
import { resolveJob } from "../../src/submit/resolve-job.ts";
import { submitJob } from "../../src/submit/submit-job.ts";
import { ended, startWorking } from "./work.ts";

it("a job whose requests cannot be made is given up on, and its worker serves others", async () => {
  const api = await startWorking({ "/": "<h1>one</h1>" });
  const { frontier, clock } = api.trawl;
  const context = { id: "jpoison", requestId: "r", queue: "fetch", typedHosts: [], out: undefined };
  // As one in the broker from before such headers were refused.
  const spec = resolveJob({ headers: { upgrade: "websocket" } }, resolveConfig([]), context);
  await submitJob({ frontier, now: clock.now }, spec, [`${api.site.url}/`]);
  await api.startWorker();

  expect(await ended(api, "jpoison")).toMatchObject({ state: "failed", counts: { dead: 1 } });
  const { json } = await api.ask("GET", "/v1/dead?job=jpoison");
  expect(json.dead).toMatchObject([{ history: [{ detail: expect.stringMatching(/invalid upgrade header/) }] }]);
  const scraped = await api.ask("POST", "/v1/scrape", { url: `${api.site.url}/`, politeness: { robots: false } });
  expect(scraped.json).toMatchObject({ outcome: "page" });
});
