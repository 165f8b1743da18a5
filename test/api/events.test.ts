/** Event streams over HTTP: a client that follows a job gets its end, from any server, however slowly it reads. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { aJob } from "../contracts/frontier/makers.ts";
import { newFolder } from "../e2e/folder.ts";
import { startApi } from "./harness.ts";
import { OPERATOR, startKeyedApi } from "./keyed-api.ts";
import { startWorking } from "./working-api.ts";

type Event = { event: string; id: string | undefined; json: Record<string, unknown> };

const OPEN = { open: true };

describe("the events of a job", () => {
  it("report the job until it ends, and do not restart for a client that has received the end", async () => {
    const { request, url, site, startWorker } = await startWorking({ "/": "<h1>one</h1>", "/2": "<h1>two</h1>" });
    const urls = ["/", "/2"].map((path) => site.url + path);
    const { json } = await request("POST", "/v1/jobs", { urls, politeness: { robots: false } });
    const path = `${url}/v1/jobs/${json.id}/events`;

    const stream = follow(path);
    const first = await stream.next();
    await startWorker();
    const events = [first, ...(await all(stream))];

    expect(first).toMatchObject({ event: "job", json: { state: "running", counts: { queued: 2 } } });
    expect(events.at(-1)).toMatchObject({ event: "end", json: { state: "finished", counts: { done: 2 } } });
    expect(events.filter(({ event }) => event === "end")).toHaveLength(1);
    const lastId = String(events.at(-1)?.id);
    expect((await fetch(path, { headers: { "last-event-id": lastId } })).status).toBe(204);
    const late = await all(follow(path, String(first.id)));
    expect(late).toMatchObject([{ event: "end", id: lastId }]);
  });

  it("have the same ids on every server, and continue on another server", async () => {
    const folder = newFolder();
    const places = { broker: `sqlite:${join(folder, "b.db")}`, store: `sqlite:${join(folder, "s.db")}` };
    const [one, other] = [await startApi(places), await startApi(places)];
    const { json } = await one.request("POST", "/v1/jobs", OPEN);
    const path = `/v1/jobs/${json.id}/events`;
    const [here, there] = [follow(one.url + path), follow(other.url + path)];

    const [first, same] = [await here.next(), await there.next()];
    expect(same).toEqual(first);
    await one.stop(); // ends its streams instead of waiting for their readers
    expect(await all(here)).toEqual([]);
    await other.request("POST", `/v1/jobs/${json.id}/cancel`);
    expect(await all(follow(other.url + path, String(first.id)))).toMatchObject([
      { event: "end", json: { state: "cancelled" } },
    ]);
    expect(await all(there)).toMatchObject([{ event: "end" }]);
  });

  it("poll the broker once for any number of clients", async () => {
    const { request, url, trawl } = await startApi();
    const { json } = await request("POST", "/v1/jobs", OPEN);
    const streams = Array.from({ length: 30 }, () => follow(`${url}/v1/jobs/${json.id}/events`));
    await Promise.all(streams.map((stream) => stream.next()));
    const { findJob } = trawl.frontier;
    let polls = 0;
    trawl.frontier.findJob = (id) => {
      polls += 1;
      return findJob.call(trawl.frontier, id);
    };

    await trawl.frontier.pause(String(json.id)); // not over HTTP, because that request would read the job itself
    await Promise.all(streams.map((stream) => stream.next()));

    expect(polls).toBeLessThan(15); // a few polls, not one per client
    await Promise.all(streams.map((stream) => stream.return()));
  });

  it("are not buffered for a slow client, which gets the newest state", async () => {
    const { request, url, trawl } = await startApi();
    const { json } = await request("POST", "/v1/jobs", OPEN);
    const id = String(json.id);
    const stream = follow(`${url}/v1/jobs/${id}/events`);
    await stream.next();

    for (let nth = 0; nth < 2_000; nth += 1) await trawl.frontier.setPriority(id, nth % 9);
    await trawl.frontier.cancel(id);
    const rest = await all(stream);

    expect(rest.at(-1)).toMatchObject({ event: "end", json: { state: "cancelled" } });
    expect(rest.length).toBeLessThan(200);
  });

  it("answer 404 for a job that does not exist", async () => {
    const { request, url } = await startApi();

    expect(await request("GET", "/v1/jobs/j1/events")).toMatchObject({ status: 404, json: { code: "NOT_FOUND" } });
    expect((await fetch(`${url}/v1/events`, { method: "HEAD" })).status).toBe(405);
  });
});

describe("the events of all jobs", () => {
  it("start with the current state, continue with changes, and resume after the last received id", async () => {
    const { request, url } = await startApi();
    const { json: a } = await request("POST", "/v1/jobs", { name: "a", ...OPEN });
    const { json: b } = await request("POST", "/v1/jobs", { name: "b", ...OPEN });
    const stream = follow(`${url}/v1/events`);

    const first = await upTo(stream, "jobs");
    await request("POST", `/v1/jobs/${a.id}/pause`);
    const second = await upTo(stream, "jobs");
    await stream.return();
    const back = follow(`${url}/v1/events`, String(second.id));
    await upTo(back, "fleet"); // the `jobs` event would come before it, but no job has changed
    await request("POST", `/v1/jobs/${b.id}/cancel`);
    const third = await upTo(back, "jobs");
    await request("DELETE", `/v1/jobs/${b.id}`);
    const fourth = await upTo(back, "jobs");
    await back.return();

    const names = ({ json }: Event) =>
      (json.jobs as { name: string; state: string }[]).map((job) => [job.name, job.state]);
    expect(names(first)).toEqual([
      ["b", "running"],
      ["a", "running"],
    ]);
    expect(names(second)).toEqual([["a", "paused"]]);
    expect(names(third)).toEqual([["b", "cancelled"]]);
    expect(fourth.json).toEqual({ jobs: [], gone: [b.id], more: { open: false, ended: false } });
  });

  it("include a running job that is older than hundreds of ended jobs, like the list of running jobs", async () => {
    const api = await startKeyedApi();
    const one = await api.newCaller({ tenant: "one" });
    const { json } = await one.request("POST", "/v1/jobs", { name: "old", ...OPEN });
    for (let nth = 0; nth < 210; nth++) {
      await api.trawl.frontier.createJob(aJob({ id: `ended${nth}` }));
      await api.trawl.frontier.seal(`ended${nth}`);
    }
    const stream = follow(`${api.url}/v1/events`, undefined, OPERATOR);
    const answer = await upTo(stream, "jobs");
    await one.request("POST", `/v1/jobs/${json.id}/pause`);
    const then = await upTo(stream, "jobs");
    await stream.return();

    expect(answer.json).toMatchObject({ more: { open: false, ended: true } });
    const [known] = (answer.json.jobs as { id: string }[]).filter(({ id }) => id === json.id);
    expect(known).toMatchObject({ name: "old", state: "running" });
    expect(then.json).toMatchObject({ jobs: [{ id: json.id, state: "paused" }] });
    for (const request of [one.request, api.operator]) {
      expect((await request("GET", "/v1/jobs?state=running")).json).toEqual({ jobs: [], next: null });
      const { json: found } = await request("GET", "/v1/jobs?state=paused");
      expect(found).toMatchObject({ jobs: [{ id: json.id }], next: null });
    }
  });
});

describe("many clients that follow all jobs", () => {
  it("cost one poll of the broker, and get the same text", async () => {
    const { request, url, trawl } = await startApi();
    const { json } = await request("POST", "/v1/jobs", { name: "a", ...OPEN });
    const streams = Array.from({ length: 20 }, () => follow(`${url}/v1/events`));
    await Promise.all(streams.map((stream) => upTo(stream, "fleet")));
    const { listQueues } = trawl.frontier;
    let polls = 0;
    trawl.frontier.listQueues = () => {
      polls += 1;
      return listQueues.call(trawl.frontier);
    };

    await trawl.frontier.pause(String(json.id));
    const answer = await Promise.all(streams.map((stream) => upTo(stream, "jobs")));

    expect(polls).toBeLessThan(10);
    expect(new Set(answer.map((event) => JSON.stringify(event))).size).toBe(1);
    expect(answer[0]?.json).toMatchObject({ jobs: [{ name: "a", state: "paused" }], gone: [] });
    await Promise.all(streams.map((stream) => stream.return()));
  });
});

describe("the events of a tenant", () => {
  it("contain only its own jobs, and nothing about the fleet", async () => {
    const { url, newCaller } = await startKeyedApi();
    const [one, two] = [await newCaller({ tenant: "one" }), await newCaller({ tenant: "two" })];
    const { json: theirs } = await one.request("POST", "/v1/jobs", { name: "a", ...OPEN });
    const stream = follow(`${url}/v1/events`, undefined, two.key);

    const none = await stream.next();
    await one.request("POST", `/v1/jobs/${theirs.id}/pause`);
    await two.request("POST", "/v1/jobs", { name: "b", ...OPEN });
    const first = await stream.next();
    await one.request("POST", `/v1/jobs/${theirs.id}/cancel`);
    const { json: own } = await two.request("POST", "/v1/jobs", { name: "c", ...OPEN });
    const second = await stream.next();
    await stream.return();

    expect(none).toMatchObject({ event: "jobs", json: { jobs: [], gone: [] } });
    expect(first).toMatchObject({ event: "jobs", json: { jobs: [{ name: "b" }] } });
    expect(second).toMatchObject({ event: "jobs", json: { jobs: [{ name: "c", id: own.id }] } });
  });
});

type Stream = { next(): Promise<Event>; return(): Promise<unknown>; rest: AsyncGenerator<Event> };

function follow(url: string, lastId?: string, key?: string): Stream {
  const rest = events(url, lastId, key);
  return {
    rest,
    async next() {
      const { value, done } = await rest.next();
      if (done === true) throw new Error("the stream has ended");
      return value;
    },
    return: () => rest.return(undefined),
  };
}

async function* events(url: string, lastId: string | undefined, key: string | undefined): AsyncGenerator<Event> {
  const controller = new AbortController();
  const headers = {
    ...(lastId === undefined ? {} : { "last-event-id": lastId }),
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
  };
  const answer = await fetch(url, { headers, signal: controller.signal });
  expect(answer.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  let text = "";
  try {
    for await (const chunk of (answer.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
      const parts = (text + chunk).split("\n\n");
      text = parts.pop() ?? "";
      for (const part of parts) {
        const fields = Object.fromEntries(part.split("\n").map((line) => line.split(/: (.*)/s)));
        if (fields.data !== undefined) yield { event: fields.event, id: fields.id, json: JSON.parse(fields.data) };
      }
    }
  } finally {
    controller.abort();
  }
}

async function all({ rest }: Stream): Promise<Event[]> {
  const found: Event[] = [];
  for await (const event of rest) found.push(event);
  return found;
}

async function upTo(stream: Stream, name: string): Promise<Event> {
  for (;;) {
    const event = await stream.next();
    if (event.event === name) return event;
  }
}
