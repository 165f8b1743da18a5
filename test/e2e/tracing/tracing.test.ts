/** One request is one trace, over server and workers, as a collector of spans sees it. */
import { describe, expect, it } from "vitest";
import { submitSpanId, taskSpan } from "../../../src/runtime/trace-ids.ts";
import { waitUntil } from "../../services/wait-until.ts";
import { lastJson } from "../cli.ts";
import { newFleet } from "../fleet/fleet.ts";
import { originOf } from "../sites.ts";
import { type SeenSpan, startCollector } from "./collector.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER = "00f067aa0ba902b7";
const LONG_MS = 40_000;

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

/** Pages everywhere, but for one that fails at first, and one that is gone. */
function flakySite() {
  const asked = new Set<string>();
  return originOf((request, response) => {
    const { url = "" } = request;
    if (url === "/gone") response.statusCode = 410;
    if (url === "/flaky" && !asked.has(url)) response.statusCode = 500;
    asked.add(url);
    response.setHeader("content-type", "text/html").end("<h1>a page</h1>");
  });
}

const named = (spans: readonly SeenSpan[], name: string) => spans.filter((span) => span.name === name);

describe("a trace", () => {
  it("has all of a request: its submission, and below it each page with its tries, across processes", async () => {
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
    const isWhole = () => named(spans, "task").length === 5 && named(spans, "submit").length === 1;
    expect(await waitUntil(isWhole, LONG_MS, 50), JSON.stringify(spans.map(({ name }) => name))).toBe(true);
    up.kill("SIGTERM");
    await up.ended;

    expect(requestId).toBe(TRACE);
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
    expect(new Set(spans.map(({ service }) => service))).toEqual(new Set(["trawl"]));
    expect(new Set(spans.map(({ instance }) => instance)).size).toBe(3); // a server, and workers that fetch and parse
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
    const [submit] = named(spans, "submit");
    expect(submit).toMatchObject({ spanId: submitSpanId(TRACE), parentSpanId: CALLER, isFailed: false });
    expect(submit?.words).toMatchObject({
      "trawl.job.id": id,
      "trawl.urls.accepted": 3,
      "http.response.status_code": 202,
    });

    // Everything hangs under something that is there, and the tasks under the submission.
    const known = new Map(spans.map((span) => [span.spanId, span]));
    expect(spans.filter(({ parentSpanId }) => !known.has(parentSpanId))).toEqual([submit]);
    const tasks = named(spans, "task");
    for (const task of tasks) expect(task.spanId).toBe(taskSpan(id, String(task.words["trawl.task.id"])).spanId);
    const parses = tasks.filter(({ words }) => words["trawl.task.kind"] === "parse");
    expect(parses.map(({ parentSpanId }) => known.get(parentSpanId)?.name)).toEqual(["task", "task"]);
    for (const task of tasks.filter((one) => !parses.includes(one))) expect(task.parentSpanId).toBe(submit?.spanId);

    const below = ({ spanId }: SeenSpan) => spans.filter(({ parentSpanId }) => parentSpanId === spanId);
    const names = (task: SeenSpan | undefined) => (task ? below(task).map(({ name }) => name) : []).sort();
    const taskOf = (path: string, kind = "fetch") =>
      tasks.find(({ words }) => words["url.full"] === `${site.url}${path}` && words["trawl.task.kind"] === kind);
    const plain = taskOf("/?token=***");
    expect(names(plain)).toEqual(expect.arrayContaining(["fetch", "lease", "settle", "store", "task"]));
    expect(names(parses[0])).toEqual(["extract", "lease", "settle", "store"]);
    expect(JSON.stringify(spans)).not.toContain("hush");

    // What failed says so, with its number and its words; what came of it in the end does not.
    const flaky = taskOf("/flaky");
    const tries = flaky ? named(below(flaky), "fetch") : [];
    expect(
      tries.map(({ words, isFailed }) => [words["trawl.attempt"], words["http.response.status_code"], isFailed]),
    ).toEqual([
      [1, 500, true],
      [2, 200, false],
    ]);
    expect(tries[0]?.words).toMatchObject({ "error.type": "server_error", "server.address": "127.0.0.1" });
    expect(flaky).toMatchObject({ isFailed: false, words: { "trawl.outcome": "done" } });
    const gone = taskOf("/gone");
    expect(gone).toMatchObject({ isFailed: true, words: { "trawl.outcome": "dead", "error.type": "http_status" } });
    for (const task of tasks) for (const span of below(task)) expect(span.from).toBeGreaterThanOrEqual(task.from - 2);
  });

  it("leaves out what a caller, or the share of tasks, does not want recorded", async () => {
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
    for (const { words } of tasks) expect(taskSpan(id, String(words["trawl.task.id"])).share).toBeLessThan(0.5);
    expect(
      named(collector.spans, "fetch")
        .map(({ parentSpanId }) => parentSpanId)
        .sort(),
    ).toEqual(tasks.map(({ spanId }) => spanId).sort());
  });

  it("hangs under what a program that traces by itself has registered", async () => {
    const site = await flakySite();
    const { collector, fleet } = await tracedFleet({ TRAWL_OTEL: "off" });
    const own = new URL("./own-sdk.mjs", import.meta.url).href;
    const end = await fleet.run(["crawl", `${site.url}/`, "--follow", "none", "--quiet", "--request-id", TRACE], {
      env: { NODE_OPTIONS: `--import ${own}` },
    });

    expect(end, end.stderr).toMatchObject({ code: 0 });
    expect(new Set(collector.spans.map(({ traceId, service }) => `${service} ${traceId}`))).toEqual(
      new Set([`somebody-elses ${TRACE}`]),
    );
    const only = (name: string) => named(collector.spans, name)[0];
    const [submit, task, asked] = [only("submit"), only("task"), only("fetch")];
    expect(submit).toMatchObject({ spanId: submitSpanId(TRACE), parentSpanId: "" });
    expect(task?.parentSpanId).toBe(submit?.spanId);
    expect(asked?.parentSpanId).toBe(task?.spanId);
  });
});
