/** Tests that one submission is one trace across server and workers, as a collector receives it. */
import { describe, expect, it } from "vitest";
import { submitSpanId, taskSpan } from "../../../src/runtime/trace-ids.ts";
import { waitUntil } from "../../services/wait-until.ts";
import { lastJson } from "../cli.ts";
import { newFleet } from "../fleet/fleet.ts";
import { originOf } from "../sites.ts";
import { type ReceivedSpan, startCollector } from "./collector.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER = "00f067aa0ba902b7";
const TIMEOUT_MS = 40_000;

async function tracedFleet(env: Record<string, string> = {}) {
  const collector = await startCollector();
  const settings = {
    TRAWL_OTEL: "1",
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: "200",
    ...env,
  };
  const fleet = await newFleet({ fresh: async () => settings, missing: {} });
  return { collector, fleet };
}

/** Every path is a page, except /gone; /flaky fails once. */
function flakySite() {
  const requested = new Set<string>();
  return originOf((request, response) => {
    const { url = "" } = request;
    if (url === "/gone") response.statusCode = 410;
    if (url === "/flaky" && !requested.has(url)) response.statusCode = 500;
    requested.add(url);
    response.setHeader("content-type", "text/html").end("<h1>a page</h1>");
  });
}

const named = (spans: readonly ReceivedSpan[], name: string) => spans.filter((span) => span.name === name);

describe("a trace", () => {
  it("contains the submission and, as its children, each page with its attempts, across processes", async () => {
    const site = await flakySite();
    const { collector, fleet } = await tracedFleet();
    const up = fleet.start(["up", "--fetch", "1", "--render", "0", "--parse", "1", "--port", "0", "--json"]);
    await up.prints(/"up\.started"/);
    const [, url = ""] = /"up\.started","url":"([^"]+)"/.exec(up.output().stderr) ?? [];

    const job = {
      urls: [`${site.url}/?token=hush`, `${site.url}/flaky`, `${site.url}/gone`],
      extract: { title: "h1" },
      parse: "queue",
      politeness: { rate: "unlimited" },
      retries: { max: 2, backoff: "10ms" },
    };
    const answer = await fetch(`${url}/v1/jobs`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        traceparent: `00-${TRACE}-${CALLER}-01`,
        "x-request-id": "from-a-proxy",
      },
      body: JSON.stringify(job),
    });
    const { id, requestId } = (await answer.json()) as { id: string; requestId: string };
    const { spans } = collector;
    const isComplete = () => named(spans, "task").length === 5 && named(spans, "submit").length === 1;
    expect(await waitUntil(isComplete, TIMEOUT_MS, 50), JSON.stringify(spans.map(({ name }) => name))).toBe(true);
    up.kill("SIGTERM");
    await up.ended;

    expect(requestId).toBe(TRACE);
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
    expect(new Set(spans.map(({ service }) => service))).toEqual(new Set(["trawl"]));
    expect(new Set(spans.map(({ instance }) => instance)).size).toBe(3); // a server, and workers that fetch and parse
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
    const [submit] = named(spans, "submit");
    expect(submit).toMatchObject({ spanId: submitSpanId(TRACE), parentSpanId: CALLER, isFailed: false });
    expect(submit?.attributes).toMatchObject({
      "trawl.job.id": id,
      "trawl.urls.accepted": 3,
      "http.response.status_code": 202,
    });

    // The parent of every span was received, and the parent of the tasks is the submission.
    const known = new Map(spans.map((span) => [span.spanId, span]));
    expect(spans.filter(({ parentSpanId }) => !known.has(parentSpanId))).toEqual([submit]);
    const tasks = named(spans, "task");
    for (const task of tasks) expect(task.spanId).toBe(taskSpan(id, String(task.attributes["trawl.task.id"])).spanId);
    const parses = tasks.filter(({ attributes }) => attributes["trawl.task.kind"] === "parse");
    expect(parses.map(({ parentSpanId }) => known.get(parentSpanId)?.name)).toEqual(["task", "task"]);
    for (const task of tasks.filter((one) => !parses.includes(one))) expect(task.parentSpanId).toBe(submit?.spanId);

    const childrenOf = ({ spanId }: ReceivedSpan) => spans.filter(({ parentSpanId }) => parentSpanId === spanId);
    const names = (task: ReceivedSpan | undefined) => (task ? childrenOf(task).map(({ name }) => name) : []).sort();
    const taskOf = (path: string, kind = "fetch") =>
      tasks.find(
        ({ attributes }) => attributes["url.full"] === `${site.url}${path}` && attributes["trawl.task.kind"] === kind,
      );
    const plain = taskOf("/?token=***");
    expect(names(plain)).toEqual(expect.arrayContaining(["fetch", "lease", "settle", "store", "task"]));
    expect(names(parses[0])).toEqual(["extract", "lease", "settle", "store"]);
    expect(JSON.stringify(spans)).not.toContain("hush");

    // A failed attempt is marked as failed, with its number and reason. A task that succeeded in the end is not marked.
    const flaky = taskOf("/flaky");
    const attempts = flaky ? named(childrenOf(flaky), "fetch") : [];
    expect(
      attempts.map(({ attributes, isFailed }) => [
        attributes["trawl.attempt"],
        attributes["http.response.status_code"],
        isFailed,
      ]),
    ).toEqual([
      [1, 500, true],
      [2, 200, false],
    ]);
    expect(attempts[0]?.attributes).toMatchObject({ "error.type": "server_error", "server.address": "127.0.0.1" });
    expect(flaky).toMatchObject({ isFailed: false, attributes: { "trawl.outcome": "done" } });
    const gone = taskOf("/gone");
    expect(gone).toMatchObject({
      isFailed: true,
      attributes: { "trawl.outcome": "dead", "error.type": "http_status" },
    });
    for (const task of tasks)
      for (const span of childrenOf(task)) expect(span.from).toBeGreaterThanOrEqual(task.from - 2);
  });

  it("leaves out requests that the caller does not sample, and tasks outside of the sampled share", async () => {
    const site = await flakySite();
    const { collector, fleet } = await tracedFleet({ TRAWL_TRACE_SAMPLE: "0.5" });
    const paths = Array.from({ length: 20 }, (_, nth) => `${site.url}/${nth}`);
    const flags = ["--rate", "unlimited", "--follow", "none", "--json", "--quiet"];
    const crawl = (request: string) => fleet.run(["crawl", ...paths, ...flags, "--request-id", request]);

    const unwanted = await crawl(`${TRACE}-00`);
    expect(collector.spans).toEqual([]);
    const wanted = await crawl("order-4711");

    expect([unwanted.code, wanted.code]).toEqual([0, 0]);
    const { id } = lastJson<{ id: string }>(wanted);
    const tasks = named(collector.spans, "task");
    expect(tasks.length).toBeGreaterThan(0);
    expect(tasks.length).toBeLessThan(20);
    for (const { attributes } of tasks)
      expect(taskSpan(id, String(attributes["trawl.task.id"])).share).toBeLessThan(0.5);
    expect(
      named(collector.spans, "fetch")
        .map(({ parentSpanId }) => parentSpanId)
        .sort(),
    ).toEqual(tasks.map(({ spanId }) => spanId).sort());
  });

  it("is recorded by the SDK that the program itself has registered", async () => {
    const site = await flakySite();
    const { collector, fleet } = await tracedFleet({ TRAWL_OTEL: "off" });
    const own = new URL("./own-sdk.mjs", import.meta.url).href;
    const end = await fleet.run(["crawl", `${site.url}/`, "--follow", "none", "--quiet", "--request-id", TRACE], {
      env: { NODE_OPTIONS: `--import ${own}` },
    });

    expect(end, end.stderr).toMatchObject({ code: 0 });
    expect(new Set(collector.spans.map(({ traceId, service }) => `${service} ${traceId}`))).toEqual(
      new Set([`own-program ${TRACE}`]),
    );
    const only = (name: string) => named(collector.spans, name)[0];
    const [submit, task, request] = [only("submit"), only("task"), only("fetch")];
    expect(submit).toMatchObject({ spanId: submitSpanId(TRACE), parentSpanId: "" });
    expect(task?.parentSpanId).toBe(submit?.spanId);
    expect(request?.parentSpanId).toBe(task?.spanId);
  });
});
