import { describe, expect, it } from "vitest";
import type { UpcomingOut } from "../../src/api/wire/schedules.ts";
import { connect } from "../../src/client/client.ts";
import { startApi } from "./harness.ts";

const JOB = { urls: ["https://a.example/"], extract: { title: "h1" } };

describe("schedules over HTTP", () => {
  it("are created, listed in pages, read, changed and removed", async () => {
    const { request } = await startApi();

    const made = await request("POST", "/v1/schedules", { cron: "0 6 * * 1-5", timeZone: "Europe/Berlin", job: JOB });
    await request("POST", "/v1/schedules", { every: "90s", overlap: "queue", name: "often", job: JOB });

    expect(made.status).toBe(201);
    expect(made.json).toMatchObject({
      ...{ name: "a.example/", cron: "0 6 * * 1-5", timeZone: "Europe/Berlin", every: null },
      ...{ overlap: "skip", catchUp: "one", maxCatchUp: 10, paused: false, job: JOB },
    });
    const path = `/v1/schedules/${made.json.id}`;
    expect((await request("GET", path)).json).toEqual(made.json);
    const first = await request("GET", "/v1/schedules?limit=1");
    expect(first.json.schedules).toEqual([made.json]);
    const second = await request("GET", `/v1/schedules?limit=5&cursor=${first.json.next}`);
    expect(second.json).toMatchObject({ schedules: [{ name: "often", every: "90s", cron: null }], next: null });

    const changed = await request("PATCH", path, { cron: "30 7 * * *", overlap: "replace" });
    expect(changed.json).toMatchObject({ cron: "30 7 * * *", timeZone: "Europe/Berlin", overlap: "replace", job: JOB });
    expect(changed.json.nextAt).toMatch(/T0[56]:30:00\.000Z$/);
    expect(await request("PATCH", path, { every: "1h" })).toMatchObject({ json: { cron: null, every: "1h" } });

    expect(await request("DELETE", path)).toMatchObject({ status: 200, json: { removed: true } });
    expect(await request("GET", path)).toMatchObject({ status: 404, json: { code: "NOT_FOUND" } });
  });

  it("list the runs of the next days, and preview those of a new schedule", async () => {
    const { request, url } = await startApi();
    for (const [name, when] of [
      ["daily", { cron: "0 6 * * *", timeZone: "Europe/Berlin" }],
      ["often", { every: "5m" }],
      ["paused", { cron: "0 7 * * *", paused: true }],
    ] as const) {
      await request("POST", "/v1/schedules", { name, ...when, job: JOB });
    }
    const { schedules } = connect(url);

    const listed: UpcomingOut[] = [];
    for await (const one of schedules.upcoming({ days: 3, each: 5 })) listed.push(one);
    const first = await request("GET", "/v1/schedules/upcoming?limit=2");
    const rest = await request("GET", `/v1/schedules/upcoming?limit=2&cursor=${first.json.next}`);
    const previewed = await schedules.preview({ cron: "30 6 * * *", timeZone: "Europe/Berlin" }, 5);

    expect(listed.map(({ name, runs, more }) => [name, runs.length, more])).toEqual([
      ["daily", 3, false],
      ["often", 5, true],
      ["paused", 0, false],
    ]);
    expect(rest.json).toMatchObject({ upcoming: [{ name: "paused", runs: [] }], next: null });
    expect(previewed).toHaveLength(5);
    expect(previewed.every((at) => /T0[45]:30:00\.000Z$/.test(at))).toBe(true);
    const faults = ["cron=nonsense", "", "cron=@daily&every=1h", "cron=@daily&timeZone=Mars"];
    for (const fault of faults) {
      const answer = await request("GET", `/v1/schedules/preview?${fault}`);
      expect(answer).toMatchObject({ status: 400, json: { code: "BAD_SCHEDULE" } });
    }
  });

  it("keep the value of a header that is sent back masked, and never store the mask", async () => {
    const { request, trawl } = await startApi();
    const headers = { Authorization: "Bearer s3cret", "X-Team": "blue" };
    const { json } = await request("POST", "/v1/schedules", { every: "1d", job: { ...JOB, headers } });
    const path = `/v1/schedules/${json.id}`;
    const seen = (await request("GET", path)).json.job as unknown as {
      headers: Record<string, string>;
      urls: string[];
    };
    const stored = async () => {
      const job = (await trawl.store.schedules.find(String(json.id)))?.job as typeof seen | undefined;
      return job?.headers;
    };
    expect(seen.headers).toEqual({ Authorization: "***", "X-Team": "***" });

    const back = {
      ...seen,
      headers: { authorization: "***", "X-Team": "red" },
      urls: [...JOB.urls, "https://a.example/b"],
    };
    expect((await request("PATCH", path, { job: back })).status).toBe(200);
    expect(await stored()).toEqual({ authorization: "Bearer s3cret", "X-Team": "red" });

    const refused = [
      { ...seen, headers: { cookie: "***" } },
      { ...seen, urls: ["https://thief.example/"] },
      { ...seen, follow: { scope: "any" } },
    ];
    for (const job of refused) {
      const answer = await request("PATCH", path, { job });
      expect(answer).toMatchObject({ status: 400, json: { code: "BAD_SCHEDULE" } });
      expect(answer.json.detail).toContain("is the mask of a value that is not shown");
    }
    expect(await request("POST", "/v1/schedules", { every: "1d", job: seen })).toMatchObject({ status: 400 });
    expect(await stored()).toEqual({ authorization: "Bearer s3cret", "X-Team": "red" });
  });

  it("keep the fields of a login that are sent back masked, for the same login only", async () => {
    const { request } = await startApi();
    const login = { url: "https://a.example/login", form: { user: "env:USER", password: "canary" } };
    const job = { urls: ["https://a.example/"], login };
    const { json } = await request("POST", "/v1/schedules", { every: "1h", job });
    const seen = json.job as unknown as typeof job;
    expect(seen.login.form).toEqual({ user: "env:USER", password: "***" });

    const path = `/v1/schedules/${json.id}`;
    const same = await request("PATCH", path, { job: { ...seen, name: "renamed" } });
    const other = { ...seen, login: { ...seen.login, url: "https://a.example/other" } };
    const moved = await request("PATCH", path, { job: other });

    expect([same.status, moved.status]).toEqual([200, 400]);
    expect(JSON.stringify(moved.json)).toContain("login.form.password");
  });

  it("keep values for the browser that are sent back masked, each in its field", async () => {
    const { request, trawl } = await startApi();
    const actions = [{ fill: "#user", with: "ann" }, { press: "Tab" }, { fill: "#password", with: "s3cret" }];
    const job = { ...JOB, render: "always", browser: { actions } };
    const { json } = await request("POST", "/v1/schedules", { every: "1d", job });
    const path = `/v1/schedules/${json.id}`;
    const answer = await request("GET", path);
    const seen = answer.json.job as unknown as typeof job;
    expect(JSON.stringify(answer.json)).not.toContain("s3cret");
    const [user, tab, password] = seen.browser.actions;
    const stored = async () => (await trawl.store.schedules.find(String(json.id)))?.job;

    const back = { ...seen, browser: { actions: [password, { fill: "#user", with: "bob" }] } };
    expect((await request("PATCH", path, { job: back })).status).toBe(200);
    const changed = { browser: { actions: [actions[2], { fill: "#user", with: "bob" }] } };
    expect(await stored()).toMatchObject(changed);

    const elsewhere = { ...seen, urls: ["https://thief.example/"] };
    const another = { ...seen, browser: { actions: [user, tab, { fill: "#comment", with: "***" }] } };
    for (const refused of [elsewhere, another]) {
      const answer = await request("PATCH", path, { job: refused });
      expect(answer).toMatchObject({ status: 400, json: { code: "BAD_SCHEDULE" } });
    }
    expect(await stored()).toMatchObject(changed);
  });

  it("return their next run in their time zone", async () => {
    const { request } = await startApi();
    const { json } = await request("POST", "/v1/schedules", {
      cron: "0 12 29 2 *",
      timeZone: "Asia/Kolkata",
      job: JOB,
    });

    const { next } = (await request("GET", `/v1/schedules/${json.id}/next?n=2`)).json;

    expect(next).toEqual(["2028-02-29T06:30:00.000Z", "2032-02-29T06:30:00.000Z"]);
    expect(json.nextAt).toBe("2028-02-29T06:30:00.000Z");
  });

  it("run now under their overlap policy, and return the result", async () => {
    const { request } = await startApi();
    const make = async (overlap: string) =>
      `/v1/schedules/${(await request("POST", "/v1/schedules", { every: "1d", overlap, job: JOB })).json.id}`;
    const [skip, queue, replace] = [await make("skip"), await make("queue"), await make("replace")];

    const firsts = await Promise.all([skip, queue, replace].map((path) => request("POST", `${path}/run`)));
    const seconds = [];
    for (const path of [skip, queue, replace]) seconds.push(await request("POST", `${path}/run`));

    for (const { status, json } of firsts) {
      expect([status, json.state]).toEqual([202, "fired"]);
      expect((await request("GET", `/v1/jobs/${json.jobId}`)).json).toMatchObject({
        sealed: true,
        counts: { submitted: 1 },
      });
    }
    expect(seconds.map(({ json }) => [json.state, json.because])).toEqual([
      ["skipped", "overlap"],
      ["waiting", `waits for the previous run: job ${firsts[1]?.json.jobId}`],
      ["fired", null],
    ]);
    expect((await request("GET", `/v1/jobs/${firsts[2]?.json.jobId}`)).json.state).toBe("cancelled");
    const { runs } = (await request("GET", `${skip}/runs`)).json;
    expect(runs).toMatchObject([
      { state: "skipped" },
      { state: "fired", kind: "manual", jobId: firsts[0]?.json.jobId },
    ]);
    expect((await request("GET", `${skip}/runs?limit=1`)).json.next).not.toBeNull();
  });

  it("can be paused and resumed, and run manually while paused", async () => {
    const { request } = await startApi();
    const { json } = await request("POST", "/v1/schedules", { cron: "@daily", paused: true, job: JOB });
    const path = `/v1/schedules/${json.id}`;
    expect(json).toMatchObject({ paused: true, nextAt: null });

    expect((await request("POST", `${path}/run`)).json.state).toBe("fired");

    expect((await request("GET", path)).json).toMatchObject({ paused: true, nextAt: null });
    expect((await request("POST", `${path}/resume`)).json).toMatchObject({ paused: false, nextAt: expect.any(String) });
    expect((await request("POST", `${path}/pause`)).json).toMatchObject({ paused: true, nextAt: null });
  });

  it.each([
    [{ job: JOB }, "BAD_SCHEDULE", /either cron or every/],
    [{ cron: "* * * * *", every: "1h", job: JOB }, "BAD_SCHEDULE", /either cron or every/],
    [{ every: "1h", timeZone: "UTC", job: JOB }, "BAD_SCHEDULE", /timeZone: needs cron/],
    [{ cron: "0 0 31 2 *", job: JOB }, "BAD_SCHEDULE", /never occurs/],
    [{ cron: "* * *", job: JOB }, "BAD_SCHEDULE", /cannot be parsed/],
    [{ cron: "* * * * *", timeZone: "Nowhere", job: JOB }, "BAD_SCHEDULE", /"Nowhere" does not exist/],
    [{ every: "10ms", job: JOB }, "BAD_REQUEST", /body\.every: takes a duration/],
    [{ every: "1h", job: { urls: [] } }, "BAD_JOB", /at least one/],
    [{ every: "1h", job: { urls: ["ftp://a.example/"] } }, "BAD_JOB", /ftp:/],
    [{ every: "1h", job: { ...JOB, extract: { title: "h1[" } } }, "BAD_SELECTOR", /h1\[/],
    [{ every: "1h", job: { ...JOB, spider: "./x.ts" } }, "BAD_SPIDER", /TRAWL_API_SPIDERS/],
    [{ every: "1h", job: JOB, speed: 1 }, "BAD_REQUEST", /unknown speed/],
  ])("are refused with the reason: %j", async (body, code, detail) => {
    const { request } = await startApi();

    const { status, json } = await request("POST", "/v1/schedules", body);

    expect([status, json.code]).toEqual([400, code]);
    expect(json.detail).toMatch(detail);
    expect((await request("GET", "/v1/schedules")).json.schedules).toEqual([]);
  });
});
