/** Webhooks of jobs: submitted over HTTP, delivered by a real worker to a real endpoint. */
import { describe, expect, it, onTestFinished } from "vitest";
import { waitUntil } from "../services/wait-until.ts";
import { type Answering, type Receiver, startReceiver, status } from "../webhook/receiver.ts";
import type { Api } from "./harness.ts";
import { ended, startWorking, type Working } from "./working-api.ts";

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
/** Short delays between attempts. */
const QUICK = { webhookBackoffMs: "20ms", webhookTimeoutMs: "10s", webhookRate: "unlimited", webhookRetries: 4 };

async function receiverOf(answer?: Answering): Promise<Receiver> {
  const receiver = await startReceiver(answer);
  onTestFinished(() => receiver.close());
  return receiver;
}

function pages(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, nth) => [`/${nth}`, `<h1>page ${nth}</h1>`]));
}

async function submitTo(
  { request, site }: Working,
  { url }: Pick<Receiver, "url">,
  more: { paths?: string[]; webhook?: object; [key: string]: unknown } = {},
): Promise<Record<string, unknown> & { id: string; webhookSecret: string | null }> {
  const { paths = ["/0"], webhook = {}, ...job } = more;
  const urls = paths.map((path) => site.url + path);
  const body = { urls, extract: { title: "h1" }, webhook: { url, ...webhook }, ...job };
  const { status: code, json } = await request("POST", "/v1/jobs", body);
  expect({ code, json }).toMatchObject({ code: 202 });
  return json as never;
}

/** Waits until the webhook of a job meets the condition. */
async function waitForWebhook({ request }: Api, id: string, condition: (webhook: Record<string, unknown>) => boolean) {
  const read = async () => (await request("GET", `/v1/jobs/${id}/webhook`)).json as Record<string, unknown>;
  await waitUntil(async () => condition(await read()), 20_000);
  return read();
}

describe("a job with a webhook", () => {
  it("reports that it has finished, signed with the secret that the submission returned", async () => {
    const working = await startWorking(pages(1), QUICK);
    const receiver = await receiverOf();

    const { id, webhookSecret } = await submitTo(working, receiver);
    await working.startWorker();
    await receiver.until(({ length }) => length === 1);

    const [event] = receiver.received;
    if (event === undefined) throw new Error("no event arrived");
    expect(webhookSecret).toMatch(/^whsec_/);
    expect(receiver.problemOf(event, String(webhookSecret))).toBeUndefined();
    expect(receiver.problemOf(event, SECRET)).toBeDefined(); // otherwise `problemOf` would accept every signature
    expect(event).toMatchObject({ type: "job.finished", path: "/hooks/trawl?token=in-the-path" });
    const { proxies: _, ...job } = await ended(working, id); // events do not contain the costs of proxies
    expect(event.content.data.job).toEqual({ ...job, rate: expect.any(Number) });
    expect(
      await waitForWebhook(working, id, ({ state, waiting }) => state === "closed" && waiting === 0),
    ).toMatchObject({
      ...{
        job: id,
        host: new URL(receiver.url).host,
        eventCount: 1,
        delivered: 1,
        waiting: 0,
        dead: 0,
        lastFailure: null,
      },
    });
  });

  it("delivers its records in batches, each record once, and then its end", async () => {
    const working = await startWorking(pages(7), { ...QUICK, webhookFlushMs: "1h" });
    const receiver = await receiverOf();
    const paths = Object.keys(pages(7));

    const webhook = { secret: SECRET, events: ["records", "job.finished"], batch: { records: 3 } };
    const { webhookSecret } = await submitTo(working, receiver, { paths, webhook });
    await working.startWorker();
    await receiver.until(({ length }) => length === 4);

    expect(webhookSecret).toBeNull(); // the submitter chose the secret
    expect(receiver.received.map((event) => receiver.problemOf(event, SECRET))).toEqual(Array(4).fill(undefined));
    const batches = receiver.received.filter(({ type }) => type === "records").map(({ content }) => content.data);
    const received = batches.flatMap(({ records }) => records as { title: string; _url: string }[]);
    expect(batches.map(({ records }) => (records as unknown[]).length).sort()).toEqual([1, 3, 3]);
    expect(received.map(({ _url }) => new URL(_url).pathname).sort()).toEqual(paths);
    expect(received.map(({ title }) => title).sort()).toEqual(paths.map((path) => `page ${path.slice(1)}`));
    const ranges = batches.map(({ after, upTo }) => [after, upTo] as number[]).sort(([a = 0], [b = 0]) => a - b);
    expect(ranges.map(([after]) => after)).toEqual([0, ...ranges.slice(0, -1).map(([, upTo]) => upTo)]);
  });

  it("delivers records after the flush interval while the job still runs", async () => {
    const working = await startWorking(pages(2), { ...QUICK, webhookFlushMs: "100ms" });
    const receiver = await receiverOf();

    const { id } = await submitTo(working, receiver, { open: true, webhook: { events: ["records"] } });
    await working.startWorker();
    await receiver.until(({ length }) => length === 1);

    expect((await working.request("GET", `/v1/jobs/${id}`)).json.state).toBe("running");
    expect(receiver.received[0]?.content.data.records).toMatchObject([{ title: "page 0" }]);
  });

  it("reports the end as failed or cancelled", async () => {
    const working = await startWorking({ "/": { status: 404 } }, QUICK);
    const receiver = await receiverOf();

    const failed = await submitTo(working, receiver, { paths: ["/"] });
    const cancelled = await submitTo(working, receiver, { open: true, paths: [] });
    await working.request("POST", `/v1/jobs/${cancelled.id}/cancel`);
    await working.startWorker();
    await receiver.until(({ length }) => length === 2);

    const ends = receiver.received.map(({ type, content }) => [type, (content.data.job as { id: string }).id]);
    expect(ends.sort()).toEqual(
      [
        ["job.failed", failed.id],
        ["job.cancelled", cancelled.id],
      ].sort(),
    );
  });

  it("retries until the endpoint accepts: same id and body, a new signature", async () => {
    const working = await startWorking(pages(1), QUICK);
    const receiver = await receiverOf((response, _, nth) => response.writeHead(nth < 3 ? 500 : 200).end());

    const { id, webhookSecret } = await submitTo(working, receiver);
    await working.startWorker();
    const view = await waitForWebhook(working, id, ({ delivered }) => delivered === 1);

    expect(receiver.received).toHaveLength(3);
    expect(new Set(receiver.received.map((event) => event.id + event.body)).size).toBe(1);
    for (const event of receiver.received) expect(receiver.problemOf(event, String(webhookSecret))).toBeUndefined();
    expect(view).toMatchObject({ delivered: 1, lastFailure: { detail: "the endpoint answered 500" } });
  });

  it("follows no redirect", async () => {
    const working = await startWorking(pages(1), { ...QUICK, webhookRetries: 1 });
    const elsewhere = await receiverOf();
    const receiver = await receiverOf(status(302, { location: elsewhere.url }));

    const { id } = await submitTo(working, receiver);
    await working.startWorker();
    const view = await waitForWebhook(working, id, ({ dead }) => dead === 1);

    expect(receiver.received).toHaveLength(2);
    expect(elsewhere.connections()).toBe(0);
    expect(view).toMatchObject({ dead: 1, waiting: 0, lastFailure: { detail: expect.stringContaining("302") } });
  });

  it("stops after a 410, and delivers after a replay", async () => {
    const working = await startWorking(pages(1), QUICK);
    let isGone = true;
    const receiver = await receiverOf((response) => response.writeHead(isGone ? 410 : 200).end());

    const { id } = await submitTo(working, receiver);
    await working.startWorker();
    const view = await waitForWebhook(working, id, ({ dead }) => dead === 1);
    expect(receiver.received).toHaveLength(1);
    const [delivery] = view.deliveryJobs as string[];
    const { json } = await working.request("GET", `/v1/dead?job=${delivery}`);
    expect(json.dead).toMatchObject([{ reason: "http_status", status: 410 }]);
    expect(JSON.stringify(json)).not.toContain("in-the-path"); // the path of an endpoint may be its secret

    isGone = false;
    await working.request("POST", "/v1/dead/replay", { job: delivery });

    expect(await waitForWebhook(working, id, ({ delivered }) => delivered === 1)).toMatchObject({
      dead: 0,
      delivered: 1,
    });
    expect(receiver.received[1]?.body).toBe(receiver.received[0]?.body);
  });

  it("reports another end when the job runs again", async () => {
    let isBroken = true;
    const working = await startWorking(
      {
        "/0": "<h1>page 0</h1>",
        "/1": (_, response) =>
          void response.writeHead(isBroken ? 404 : 200, { "content-type": "text/html" }).end("<h1>late</h1>"),
      },
      QUICK,
    );
    const receiver = await receiverOf();
    const webhook = { events: ["job.finished", "records"] };
    const { id } = await submitTo(working, receiver, { paths: ["/0", "/1"], webhook });
    await working.startWorker();
    await waitForWebhook(working, id, ({ state, waiting }) => state === "closed" && waiting === 0);
    expect(receiver.received.map(({ type }) => type).sort()).toEqual(["job.finished", "records"]);

    isBroken = false;
    await working.request("POST", "/v1/dead/replay", { job: id });
    const view = await waitForWebhook(working, id, ({ state, delivered }) => state === "closed" && delivered === 4);

    expect(view).toMatchObject({ eventCount: 4, delivered: 4, deliveryJobs: [`wh1${id}`, `wh2${id}`] });
    const again = receiver.received.slice(2);
    expect(again.find(({ type }) => type === "records")?.content.data.records).toMatchObject([{ title: "late" }]);
    expect(again.find(({ type }) => type === "job.finished")?.content.data.job).toMatchObject({ counts: { dead: 0 } });
  });

  it("reports its end even if it was archived before a worker started", async () => {
    const working = await startWorking(pages(1), QUICK);
    const receiver = await receiverOf();
    const { id } = await submitTo(working, receiver, { open: true, paths: [] });
    await working.request("POST", `/v1/jobs/${id}/cancel`);
    const { frontier, store, catalogue } = working.trawl;
    const job = await frontier.findJob(id);
    if (job?.finishedAt === undefined) throw new Error("the job has not ended");
    await store.archive.keep({ id, createdAt: job.createdAt, finishedAt: job.finishedAt, view: job });
    await frontier.forgetJob(id, 100);
    expect(await catalogue.find(id)).toMatchObject({ archived: true });

    await working.startWorker();
    await receiver.until(({ length }) => length === 1);

    expect(receiver.received[0]).toMatchObject({ type: "job.cancelled", content: { data: { job: { id } } } });
  });

  it("waits for the time in the Retry-After header of the endpoint", async () => {
    const working = await startWorking(pages(1), { ...QUICK, webhookBackoffMs: "10ms" });
    const answers = [429, 503, 200];
    const at: number[] = [];
    const receiver = await receiverOf((response, _, nth) => {
      at.push(performance.now());
      response.writeHead(answers[nth - 1] ?? 200, { "retry-after": "1" }).end();
    });

    await submitTo(working, receiver);
    await working.startWorker();
    await receiver.until(({ length }) => length === 3);

    const waits = at.slice(1).map((instant, nth) => instant - (at[nth] ?? 0));
    expect(Math.min(...waits)).toBeGreaterThan(990);
  });

  it("aborts an attempt that hangs, and uses the status of a reply whose body never ends", async () => {
    // The endpoint runs in this process too. On a busy machine, it may need a second to answer.
    const working = await startWorking(pages(1), { ...QUICK, webhookTimeoutMs: "3s" });
    const receiver = await receiverOf((response, _, nth) => {
      if (nth === 1) return; // no answer at all
      response.writeHead(200, { "content-type": "text/plain" });
      const dripping = setInterval(() => response.write("."), 50);
      response.on("close", () => clearInterval(dripping));
    });

    const { id } = await submitTo(working, receiver);
    await working.startWorker();
    const view = await waitForWebhook(working, id, ({ delivered }) => delivered === 1);

    expect(receiver.received).toHaveLength(2);
    expect(view.lastFailure).toMatchObject({ detail: expect.stringMatching(/no response in time|took too long/) });
  });

  it("does not connect to a disallowed address, and records the refusal in a dead letter", async () => {
    // The pages are on one loopback network, the endpoint on another.
    const working = await startWorking(pages(1), { ...QUICK, allowPrivate: ["127.0.0.1/32"] });
    const receiver = await receiverOf();
    const { port } = new URL(receiver.url);
    const forbidden = [`http://127.0.0.2:${port}/`, `http://[::1]:${port}/`, "http://169.254.169.254/latest/"];

    for (const url of forbidden) {
      const { id } = await submitTo(working, { url });
      if (url === forbidden[0]) await working.startWorker();
      const { deliveryJobs } = await waitForWebhook(working, id, ({ dead }) => dead === 1);
      const { json } = await working.request("GET", `/v1/dead?job=${(deliveryJobs as string[])[0]}`);
      expect(json.dead).toMatchObject([{ reason: "egress_refused" }]);
    }

    expect(receiver.connections()).toBe(0);
  });

  it("is listed without its delivery jobs, and no response contains its secret", async () => {
    const working = await startWorking(pages(1), QUICK);
    const receiver = await receiverOf(status(410));

    const { id } = await submitTo(working, receiver, { webhook: { secret: SECRET } });
    await working.startWorker();
    await waitForWebhook(working, id, ({ dead }) => dead === 1);

    const { json } = await working.request("GET", "/v1/jobs?limit=1");
    expect(json).toMatchObject({ jobs: [{ id }] });
    const paths = [`/v1/jobs/${id}`, `/v1/jobs/${id}/webhook`, "/v1/jobs", `/v1/explain?job=${id}`, "/v1/dead"];
    const answers = await Promise.all(
      paths.map(async (path) => JSON.stringify((await working.request("GET", path)).json)),
    );
    const kept = JSON.stringify(await working.trawl.frontier.listJobs(10));
    for (const text of [...answers, kept]) expect(text).not.toContain(SECRET.slice(6));
  });

  it("returns the same secret to a repeated submission", async () => {
    const working = await startWorking(pages(1), QUICK);
    const body = { urls: [`${working.site.url}/0`], webhook: { url: "https://a.example/" } };
    const send = () => working.request("POST", "/v1/jobs", body, { "idempotency-key": "same" });

    const [first, second] = [await send(), await send()];

    expect(first.json.webhookSecret).toMatch(/^whsec_/);
    expect(second.json).toEqual(first.json);
  });

  it("gets no webhook from a second request with the same idempotency key", async () => {
    const working = await startWorking(pages(1), QUICK);
    const send = (webhook?: object) =>
      working.request("POST", "/v1/jobs", { urls: [`${working.site.url}/0`], webhook }, { "idempotency-key": "same" });
    const { json } = await send();

    expect((await send({ url: "https://a.example/" })).json.code).toBe("KEY_REUSED");

    expect((await working.request("GET", `/v1/jobs/${json.id}/webhook`)).status).toBe(404);
  });

  it("of a schedule uses the secret of the schedule, which is never returned and survives a change", async () => {
    const working = await startWorking(pages(1), QUICK);
    const receiver = await receiverOf();
    const job = { urls: [`${working.site.url}/0`], webhook: { url: receiver.url } };
    const { request } = working;
    expect((await request("POST", "/v1/schedules", { every: "1d", job })).json.detail).toMatch(/webhook\.secret/);

    const given = { every: "1d", job: { ...job, webhook: { ...job.webhook, secret: SECRET } } };
    const { json: made } = await request("POST", "/v1/schedules", given);
    expect(JSON.stringify(made)).not.toContain(SECRET);
    const shown = (await request("GET", `/v1/schedules/${made.id}`)).json;
    expect(await request("PATCH", `/v1/schedules/${made.id}`, { job: shown.job })).toMatchObject({ status: 200 });
    await request("POST", `/v1/schedules/${made.id}/run`);
    await working.startWorker();
    await receiver.until(({ length }) => length === 1);

    const [event] = receiver.received;
    expect(event === undefined || receiver.problemOf(event, SECRET)).toBeUndefined();
  });

  it("is refused if it could not be delivered, with a message that contains no secret", async () => {
    const working = await startWorking(pages(1), QUICK);
    const refused: [webhook: object, more: object, message: RegExp][] = [
      [{ url: "ftp://a.example/" }, {}, /webhook\.url/],
      [{ url: "https://me:pass@a.example/" }, {}, /without credentials/],
      [{ url: "https://a.example/", secret: "whsec_dG9vIHNob3J0" }, {}, /24 to 64 bytes/],
      [{ url: "https://a.example/", events: ["job.started"] }, {}, /webhook\.events/],
      [{ url: "https://a.example/", events: ["records"] }, { keep: { records: false } }, /keep\.records/],
      [{ url: "https://a.example/", retries: 3 }, {}, /retries/],
    ];

    for (const [webhook, more, message] of refused) {
      const { status: code, json } = await working.request("POST", "/v1/jobs", { open: true, webhook, ...more });
      expect({ code, detail: json.detail }).toEqual({
        code: expect.any(Number),
        detail: expect.stringMatching(message),
      });
      expect([400, 422]).toContain(code);
      expect(json.detail).not.toContain("dG9vIHNob3J0");
    }
    expect((await working.request("GET", "/v1/jobs/none/webhook")).status).toBe(404);
  });
});
