/** Jobs over HTTP: one submission creates one job, even if requests or answers are lost. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { newFolder } from "../e2e/folder.ts";
import { startApi } from "./harness.ts";

const NDJSON = { "content-type": "application/x-ndjson" };
const lines = (count: number) => Array.from({ length: count }, (_, nth) => `https://a.example/${nth}`);

describe("a job over HTTP", () => {
  it("is queued before the answer, which counts accepted, duplicate and refused URLs", async () => {
    const { request, trawl } = await startApi();

    const urls = ["https://a.example/", "https://a.example/#top", "ftp://a.example/", "https://b.example/"];
    const { status, json, headers } = await request("POST", "/v1/jobs", { urls }, { "x-request-id": "mine-1" });

    expect(status).toBe(202);
    expect(json).toMatchObject({ accepted: 2, duplicates: 1, refusedCount: 1, taken: 4, requestId: "mine-1" });
    expect(json.refused).toMatchObject([{ index: 2, url: "ftp://a.example/" }]);
    expect(headers.get("x-request-id")).toBe("mine-1");
    const job = await trawl.frontier.findJob(String(json.id));
    expect(job).toMatchObject({ sealed: true, counts: { queued: 2 }, spec: { requestId: "mine-1" } });
  });

  it("is the same job, with the same answer, when the request is repeated with its key", async () => {
    const { request } = await startApi();
    const body = { urls: ["https://a.example/1", "https://a.example/1", "https://a.example/2"] };
    const key = { "idempotency-key": "night 7" };

    const first = await request("POST", "/v1/jobs", body, key);
    const again = await request("POST", "/v1/jobs", body, key);
    const other = await request("POST", "/v1/jobs", { urls: ["https://a.example/3"] }, key);

    expect(again.json).toEqual(first.json);
    expect(other).toMatchObject({ status: 409, json: { code: "KEY_REUSED", id: first.json.id } });
    expect((await request("GET", "/v1/jobs")).json.jobs).toHaveLength(1);
  });

  it("is one job with one answer for concurrent equal requests to several servers", async () => {
    const folder = newFolder();
    const places = { broker: `sqlite:${join(folder, "broker.db")}`, store: `sqlite:${join(folder, "store.db")}` };
    const one = await startApi(places);
    const servers = [one, await startApi(places)];
    const send = (nth: number, urls: string[], key: string) =>
      (servers[nth % 2] ?? one).request("POST", "/v1/jobs", { urls }, { "idempotency-key": key });

    for (let round = 0; round < 5; round += 1) {
      // More than one batch, so that some requests end while others still add URLs.
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, nth) => send(nth, lines(3_000), `night ${round}`)),
      );
      const others = await Promise.all(
        Array.from({ length: 8 }, (_, nth) => send(nth, [`https://a.example/${nth % 2}`], `day ${round}`)),
      );

      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
      expect(new Set(answers.map(({ json }) => JSON.stringify(json))).size).toBe(1);
      expect(answers[0]?.json).toMatchObject({ accepted: 3_000, duplicates: 0, taken: 3_000 });
      // A second, different list is refused, and none of it is queued.
      expect(others.map(({ status }) => status).sort()).toEqual([...Array(4).fill(202), ...Array(4).fill(409)]);
      const made = await one.request("GET", `/v1/jobs/${others[0]?.json.id}`);
      expect(made.json.counts).toMatchObject({ submitted: 1 });
    }
  });

  it("accepts URLs as lines, in every supported notation, until the last request", async () => {
    const { request } = await startApi();
    const { json } = await request("POST", "/v1/jobs", { open: true });
    const body = `${lines(2_500).join("\n")}\n"https://a.example/quoted"\r\n{"url":"https://a.example/object"}\n\nnot a url`;

    const added = await request("POST", `/v1/jobs/${json.id}/urls?last=true`, body, NDJSON);

    expect(added).toMatchObject({
      status: 202,
      json: { accepted: 2_502, duplicates: 0, refusedCount: 1, taken: 2_503 },
    });
    expect(added.json.refused).toMatchObject([{ index: 2_502, url: "not a url" }]);
    expect((await request("GET", `/v1/jobs/${json.id}`)).json).toMatchObject({
      sealed: true,
      counts: { queued: 2_502 },
    });
  });

  it("returns how many URLs were accepted if the broker is full", async () => {
    const { request } = await startApi({ maxPending: 1_200 });
    const { json } = await request("POST", "/v1/jobs", { open: true });

    const {
      status,
      headers,
      json: problem,
    } = await request("POST", `/v1/jobs/${json.id}/urls`, { urls: lines(3_000) });

    expect(status).toBe(429);
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    expect(problem).toMatchObject({ code: "BROKER_FULL", id: json.id, accepted: problem.taken });
    expect(Number(problem.taken)).toBeGreaterThanOrEqual(1_000);
    expect(Number(problem.taken)).toBeLessThan(3_000);
  });

  it("is listed page by page, paused, resumed, changed and cancelled", async () => {
    const { request } = await startApi();
    for (const name of ["a", "b", "c"]) {
      await request("POST", "/v1/jobs", { name, urls: [`https://${name}.example/`] });
    }

    const first = await request("GET", "/v1/jobs?limit=2");
    const rest = await request("GET", `/v1/jobs?limit=2&cursor=${first.json.next}`);
    const names = [first, rest].flatMap(({ json }) =>
      (json.jobs as unknown as { name: string }[]).map((job) => job.name),
    );
    expect(names).toEqual(["c", "b", "a"]);
    expect(rest.json.next).toBeNull();

    const [{ id }] = first.json.jobs as unknown as [{ id: string }];
    expect((await request("POST", `/v1/jobs/${id}/pause`)).json).toMatchObject({ state: "paused" });
    expect((await request("POST", `/v1/jobs/${id}/resume`)).json).toMatchObject({ state: "running" });
    const change = (body: object) => request("PATCH", `/v1/jobs/${id}`, body);
    expect((await change({ rate: "1/s", priority: 2 })).json).toMatchObject({
      priority: 2,
      politeness: { rate: "1/s" },
    });
    // Fields that are not named keep their last value, not the submitted one.
    expect((await change({ perSite: 7 })).json).toMatchObject({ politeness: { rate: "1/s", perSite: 7 } });
    expect((await change({ limits: { pages: 9, seconds: 3600 } })).json).toMatchObject({
      limits: { pages: 9, seconds: 3600 },
    });
    expect((await change({ limits: { pages: null } })).json).toMatchObject({ limits: { pages: null, seconds: 3600 } });
    expect(await change({ retries: { max: 1 } })).toMatchObject({
      status: 400,
      json: { detail: expect.stringMatching(/unknown retries; only rate.*can be changed/) },
    });
    expect((await request("POST", `/v1/jobs/${id}/cancel`)).json).toMatchObject({ state: "cancelled" });
    expect(await change({ limits: { pages: 3 } })).toMatchObject({ status: 409, json: { code: "JOB_ENDED" } });
  });
});

it("the list shows every change that was made through the same server", async () => {
  const { request } = await startApi();
  const listed = async () => (await request("GET", "/v1/jobs")).json.jobs;
  expect(await listed()).toEqual([]);

  const { json } = await request("POST", "/v1/jobs", { open: true });
  const id = String(json.id);
  expect(await listed()).toMatchObject([{ id, sealed: false, counts: { queued: 0 } }]);
  await request("POST", `/v1/jobs/${id}/urls?last=true`, { urls: lines(2) });
  expect(await listed()).toMatchObject([{ sealed: true, counts: { queued: 2 } }]);
  await request("PATCH", `/v1/jobs/${id}`, { priority: 1 });
  expect(await listed()).toMatchObject([{ priority: 1 }]);
  await request("POST", `/v1/jobs/${id}/pause`);
  expect(await listed()).toMatchObject([{ state: "paused" }]);
  await request("POST", `/v1/jobs/${id}/cancel`);
  expect(await listed()).toMatchObject([{ state: "cancelled" }]);
  await request("DELETE", `/v1/jobs/${id}`);
  expect(await listed()).toEqual([]);
});

it("a URL that is too long is returned shortened", async () => {
  const { request } = await startApi();
  const long = `https://a.example/${"x".repeat(2_000_000)}`;

  const { json } = await request("POST", "/v1/jobs", { urls: [long, "nonsense"] });

  expect(json).toMatchObject({ refusedCount: 2, accepted: 0 });
  expect(json.refused).toMatchObject([
    {
      index: 0,
      url: expect.stringMatching(/^https:\/\/a\.example\/x{100,200}…$/),
      reason: "longer than 4096 characters",
    },
    { index: 1, url: "nonsense" },
  ]);
});

describe("a bad request", () => {
  it.each([
    ["an unknown field", "POST", "/v1/jobs", { urlz: [] }, 400, "BAD_REQUEST", /unknown urlz/],
    ["a job without URLs", "POST", "/v1/jobs", {}, 400, "BAD_JOB", /open: true/],
    ["an unpaired surrogate", "POST", "/v1/jobs", { name: "a\ud800", open: true }, 400, "BAD_REQUEST", /body\.name/],
    ["a field out of range", "POST", "/v1/jobs", { urls: [], priority: 10 }, 400, "BAD_REQUEST", /body\.priority/],
    [
      "an invalid selector",
      "POST",
      "/v1/jobs",
      { urls: ["https://a.example/"], extract: { a: ":::" } },
      400,
      "BAD_SELECTOR",
      /:::/,
    ],
    ["invalid JSON", "POST", "/v1/jobs", '{"open": yes}', 400, "BAD_REQUEST", /body: is not JSON: .*y/],
    ["an unknown job", "GET", "/v1/jobs/j1", undefined, 404, "NOT_FOUND", /j1/],
    ["an invalid cursor", "GET", "/v1/jobs?cursor=abc", undefined, 400, "BAD_REQUEST", /cursor/],
    ["an unknown path", "GET", "/v1/nothing", undefined, 404, "NOT_FOUND", /v1\/nothing/],
    ["an unsupported method", "DELETE", "/v1/jobs", undefined, 405, "METHOD_NOT_ALLOWED", /takes POST, GET/],
    ["no body", "POST", "/v1/jobs", undefined, 400, "BAD_REQUEST", /body: is missing/],
    [
      "an unknown query parameter",
      "GET",
      "/v1/jobs?n=1",
      undefined,
      400,
      "BAD_REQUEST",
      /known keys: state, q, limit, cursor/,
    ],
  ] as const)("is answered with a problem: %s", async (_, method, path, body, status, code, detail) => {
    const { request } = await startApi();

    const headers = typeof body === "string" ? { "content-type": "application/json" } : {};
    const answers = await request(method, path, body, headers);

    expect(answers).toMatchObject({ status, json: { code, status, detail: expect.stringMatching(detail) } });
    expect(answers.headers.get("content-type")).toContain("application/problem+json");
    expect(answers.json.requestId).toBe(answers.headers.get("x-request-id"));
  });

  it.each([
    [{ "content-type": "text/plain" }, /content-type: is text\/plain; this route takes application\/json/],
    [{ "content-type": "application/x-ndjson" }, /this route takes application\/json$/],
    [
      { "content-type": "application/json", "content-encoding": "gzip" },
      /gzip is not supported; send the body uncompressed/,
    ],
  ])("gets an error that says how to send a body: %j", async (headers: Record<string, string>, detail) => {
    const { request } = await startApi();

    const { status, json } = await request("POST", "/v1/jobs", '{"open":true}', headers);

    expect({ status, json }).toMatchObject({ status: 400, json: { detail: expect.stringMatching(detail) } });
  });

  it("is not assumed if a request has a content type but no body", async () => {
    const { request } = await startApi();
    const { json } = await request("POST", "/v1/jobs", { open: true });
    const steer = (verb: string, type: string) =>
      request("POST", `/v1/jobs/${json.id}/${verb}`, "", { "content-type": type });

    expect((await steer("pause", "application/json")).json).toMatchObject({ state: "paused" });
    expect((await steer("cancel", "application/x-www-form-urlencoded")).json).toMatchObject({ state: "cancelled" });
    expect((await request("DELETE", `/v1/jobs`)).headers.get("allow")).toBe("POST, GET");
  });

  it("is refused if it is cross-origin", async () => {
    const { request } = await startApi();

    const foreign = await request("POST", "/v1/jobs", { urls: [] }, { origin: "https://evil.example" });

    expect(foreign).toMatchObject({ status: 403, json: { code: "FORBIDDEN" } });
  });

  it("cannot come from another machine if there is no key: the server refuses to use a public address", async () => {
    await expect(startApi({ apiHost: "0.0.0.0" })).rejects.toMatchObject({ code: "BAD_CONFIG" });
  });
});
