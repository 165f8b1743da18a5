/** Malicious jobs end, and the worker continues with other jobs. */
import { expect, it } from "vitest";
import { resolveConfig } from "../../src/config/resolve.ts";
import { resolveJob } from "../../src/submit/resolve-job.ts";
import { submitDirectly } from "../submit/submit-directly.ts";
import { ended, startWorking } from "./working-api.ts";

it("a job with invalid requests fails, and its worker continues with others", async () => {
  const api = await startWorking({ "/": "<h1>one</h1>" });
  const { frontier, clock } = api.trawl;
  const context = { id: "jpoison", requestId: "r", queue: "fetch", typedHosts: [], out: undefined };
  // Like a job that was queued before such headers were refused.
  const spec = resolveJob({ headers: { upgrade: "websocket" } }, resolveConfig([]), context);
  await submitDirectly({ frontier, now: clock.now }, spec, [`${api.site.url}/`]);
  await api.startWorker();

  expect(await ended(api, "jpoison")).toMatchObject({ state: "failed", counts: { dead: 1 } });
  const { json } = await api.request("GET", "/v1/dead?job=jpoison");
  expect(json.dead).toMatchObject([{ history: [{ detail: expect.stringMatching(/invalid upgrade header/) }] }]);
  const scraped = await api.request("POST", "/v1/scrape", { url: `${api.site.url}/`, politeness: { robots: false } });
  expect(scraped.json).toMatchObject({ outcome: "page" });
});
