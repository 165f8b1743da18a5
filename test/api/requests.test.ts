/** Requests other than a plain GET, submitted over HTTP. */
import { describe, expect, it } from "vitest";
import { connect } from "../../src/client/client.ts";
import type { Handler } from "../site/origin.ts";
import { ended, startWorking } from "./working-api.ts";

type Received = { method: string; path: string; body: string; key: unknown; auth: unknown };

function recordInto(received: Received[]): Handler {
  return async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = "", url: path = "", headers } = request;
    const [key, auth] = [headers["x-api-key"], headers.authorization];
    received.push({ method, path, body: Buffer.concat(chunks).toString(), key, auth });
    response.end("<h1>ok</h1>");
  };
}

const PLAIN = { politeness: { robots: false } };

describe("requests over HTTP", () => {
  it("are submitted as objects and as NDJSON lines, and invalid ones are named", async () => {
    const received: Received[] = [];
    const api = await startWorking(recordInto(received));
    const { url } = api.site;
    const urls = [`${url}/a`, { url: `${url}/b`, json: { n: 1 } }];

    const bad = await api.request("POST", "/v1/jobs", { urls: [{ url: `${url}/b`, json: 1, form: {} }] });
    const unknown = await api.request("POST", "/v1/jobs", { urls: [{ url: `${url}/b`, verb: "POST" }] });
    const job = await connect(api.url).submit({ urls, open: true, ...PLAIN });
    const added = await job.add(
      [`${url}/a`, { url: `${url}/b`, json: { n: 1 } }, { url: `${url}/c`, form: { q: "x" } }],
      {
        last: true,
      },
    );
    await api.startWorker();
    await ended(api, job.id);

    expect([bad.status, JSON.stringify(bad.json)]).toEqual([400, expect.stringContaining("cannot be combined with")]);
    expect([unknown.status, JSON.stringify(unknown.json)]).toEqual([400, expect.stringContaining("verb")]);
    expect(added).toMatchObject({ accepted: 1, duplicates: 2 });
    expect(received.map(({ method, path, body }) => `${method} ${path} ${body}`).sort()).toEqual([
      "GET /a ",
      'POST /b {"n":1}',
      "POST /c q=x",
    ]);
  });

  it("send secret headers to the origins of the job, and show none of them", async () => {
    const received: Received[] = [];
    process.env.TRAWL_TEST_KEY = "canary-env";
    const api = await startWorking(recordInto(received), { secrets: ["env:TRAWL_TEST_*"] });
    const url = `${api.site.url}/a`;
    const headers = { authorization: "Bearer canary-job", "x-api-key": "env:TRAWL_TEST_KEY" };
    const own = { url: `${api.site.url}/b`, json: {}, headers: { "x-api-key": "canary-request" } };
    await api.startWorker();

    const { json } = await api.request("POST", "/v1/jobs", { urls: [url, own], headers, ...PLAIN });
    await ended(api, json.id);
    const [shown, spec, schedule] = await Promise.all([
      api.request("GET", `/v1/jobs/${json.id}`),
      api.request("GET", `/v1/jobs/${json.id}/spec`),
      api.request("POST", "/v1/schedules", { cron: "0 6 * * *", job: { urls: [url, own], headers, ...PLAIN } }),
    ]);

    expect(received.map(({ path, key, auth }) => [path, key, auth]).sort()).toEqual([
      ["/a", "canary-env", "Bearer canary-job"],
      ["/b", "canary-request", "Bearer canary-job"],
    ]);
    expect(JSON.stringify([shown.json, spec.json, schedule.json])).not.toContain("canary");
    expect(schedule.json).toMatchObject({ job: { urls: [url, { ...own, headers: { "x-api-key": "***" } }] } });

    const changed = { ...(schedule.json.job as unknown as object), name: "renamed" };
    const kept = await api.request("PATCH", `/v1/schedules/${schedule.json.id}`, { job: changed });
    expect(kept.status).toBe(200);
    const run = await api.request("POST", `/v1/schedules/${schedule.json.id}/run`);
    await ended(api, (run.json.run as { jobId?: string } | undefined)?.jobId ?? run.json.jobId);
    expect(
      received
        .slice(2)
        .map(({ path, key, auth }) => [path, key, auth])
        .sort(),
    ).toEqual([
      ["/a", "canary-env", "Bearer canary-job"],
      ["/b", "canary-request", "Bearer canary-job"],
    ]);
  });

  it("fail with the reason if the operator does not allow the secret", async () => {
    const received: Received[] = [];
    const api = await startWorking(recordInto(received), { secrets: ["env:SHOP_*"] });
    await api.startWorker();

    const headers = { "x-api-key": "env:PATH" };
    const { json } = await api.request("POST", "/v1/jobs", { urls: [`${api.site.url}/a`], headers, ...PLAIN });
    await ended(api, json.id);

    const { json: dead } = await api.request("GET", `/v1/dead?job=${json.id}`);
    expect(JSON.stringify(dead)).toContain("env:PATH is not allowed on this worker");
    expect(received).toEqual([]);
  });
});
