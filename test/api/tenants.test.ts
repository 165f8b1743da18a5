/** Jobs of one tenant do not exist for another, on any route. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { newFolder } from "../e2e/folder.ts";
import { startKeyedApi } from "./keyed-api.ts";

const A_JOB = { urls: ["https://a.example/"] };
type Listed = { id: string; name: string }[];
const namesIn = ({ jobs }: Record<string, unknown>) => (jobs as Listed).map(({ name }) => name);

describe("a tenant", () => {
  it("lists only its own jobs, page by page; the operator lists all", async () => {
    const { operator, newCaller } = await startKeyedApi();
    const [acme, other] = [await newCaller({ tenant: "acme" }), await newCaller({ tenant: "other" })];
    for (const [nth, sender] of [acme, other, other, other, acme, other, other, acme, other].entries()) {
      await sender.request("POST", "/v1/jobs", { name: `job ${nth}`, ...A_JOB });
    }
    await operator("POST", "/v1/jobs", { name: "house", ...A_JOB });

    const first = (await acme.request("GET", "/v1/jobs?limit=2")).json;
    const rest = (await acme.request("GET", `/v1/jobs?limit=2&cursor=${first.next}`)).json;

    expect([namesIn(first), namesIn(rest), rest.next]).toEqual([["job 7", "job 4"], ["job 0"], null]);
    expect(namesIn((await operator("GET", "/v1/jobs")).json)).toHaveLength(10);
    expect(namesIn((await (await newCaller({ tenant: "new" })).request("GET", "/v1/jobs")).json)).toEqual([]);
    expect(
      (await acme.request("GET", `/v1/jobs?cursor=${(await operator("GET", "/v1/jobs?limit=1")).json.next}`)).status,
    ).toBe(400);
  });

  it("cannot reach another tenant's job by its Idempotency-Key", async () => {
    const { newCaller } = await startKeyedApi();
    const [acme, other] = [await newCaller({ tenant: "acme" }), await newCaller({ tenant: "other" })];
    const key = { "idempotency-key": "nightly" };

    const [one, two] = [
      await acme.request("POST", "/v1/jobs", A_JOB, key),
      await other.request("POST", "/v1/jobs", A_JOB, key),
    ];

    expect([one.status, two.status]).toEqual([202, 202]);
    expect(two.json.id).not.toBe(one.json.id);
  });

  it("has its own named sets of seen URLs", async () => {
    const { newCaller } = await startKeyedApi();
    const [acme, other] = [await newCaller({ tenant: "acme" }), await newCaller({ tenant: "other" })];
    const job = { ...A_JOB, dedup: { scope: "daily-news" } };

    const first = await acme.request("POST", "/v1/jobs", job);
    const foreign = await other.request("POST", "/v1/jobs", job);
    const again = await acme.request("POST", "/v1/jobs", job);

    expect([first, foreign, again].map(({ json }) => json.accepted)).toEqual([1, 1, 0]);
  });

  it("does not see headers of another tenant's jobs; listings show no headers", async () => {
    const { newCaller, operator } = await startKeyedApi();
    const [acme, other] = [await newCaller({ tenant: "acme" }), await newCaller({ tenant: "other" })];
    const { json } = await acme.request("POST", "/v1/jobs", { ...A_JOB, headers: { cookie: "session=hunter2" } });

    const answer = [
      await acme.request("GET", "/v1/jobs"),
      await acme.request("GET", `/v1/jobs/${json.id}`),
      await operator("GET", "/v1/jobs"),
      await other.request("GET", `/v1/jobs/${json.id}`),
    ];

    expect(answer.map(({ status }) => status)).toEqual([200, 200, 200, 404]);
    expect(JSON.stringify(answer.map((one) => one.json))).not.toContain("hunter2");
  });
});

describe("a tenant's schedule", () => {
  it("belongs to it, with its jobs and seen URLs; its headers are not returned", async () => {
    const { newCaller } = await startKeyedApi();
    const [acme, other] = [await newCaller({ tenant: "acme" }), await newCaller({ tenant: "other" })];
    const job = { ...A_JOB, name: "nightly", dedup: { scope: "news" }, headers: { cookie: "session=hunter2" } };
    const counts = [];
    for (const { request } of [acme, other]) {
      const { json } = await request("POST", "/v1/schedules", { every: "24h", job });
      const run = await request("POST", `/v1/schedules/${json.id}/run`);
      counts.push((await request("GET", `/v1/jobs/${run.json.jobId}`)).json.counts);
      expect(namesIn((await request("GET", "/v1/jobs")).json)).toEqual(["nightly"]);
      const listed = await request("GET", "/v1/schedules");
      expect(listed.json.schedules).toMatchObject([{ job: { headers: { cookie: "***" } } }]);
      expect(JSON.stringify([json, listed.json])).not.toContain("hunter2");
    }

    expect(counts).toMatchObject([
      { queued: 1, duplicate: 0 },
      { queued: 1, duplicate: 0 },
    ]);
  });
});

describe("a spider over HTTP", () => {
  it("is refused with the reason if no spider folder is configured", async () => {
    const { operator } = await startKeyedApi();

    const { status, json } = await operator("POST", "/v1/jobs", { ...A_JOB, spider: "shop.ts" });

    expect({ status, code: json.code }).toEqual({ status: 400, code: "BAD_SPIDER" });
    expect(json.detail).toMatch(/TRAWL_API_SPIDERS/);
  });

  it("must be in the folder; no other file is loaded", async () => {
    const place = newFolder();
    const folder = join(place, "spiders");
    mkdirSync(join(folder, "news"), { recursive: true });
    for (const file of ["shop.ts", "news/daily.ts", "../secret.ts"]) writeFileSync(join(folder, file), "");
    symlinkSync(join(place, "secret.ts"), join(folder, "link.ts"));
    const { operator, trawl } = await startKeyedApi({ apiSpiders: folder });
    const submit = (spider: string) => operator("POST", "/v1/jobs", { ...A_JOB, spider });

    const good = await submit("news/daily.ts");
    expect(good.status).toBe(202);
    expect(await trawl.frontier.findJob(String(good.json.id))).toMatchObject({
      spec: { spider: join(folder, "news/daily.ts") },
    });
    const odd = ["../secret.ts", "news/../../secret.ts", join(place, "secret.ts"), join(folder, "shop.ts"), "link.ts"];
    for (const spider of [
      ...odd,
      "missing.ts",
      "news",
      "./shop.ts",
      ".hidden",
      "shop.ts\0",
      "..\\secret.ts",
      "file:///etc/passwd",
      "",
    ]) {
      const { status, json } = await submit(spider);
      expect({ spider, status, code: json.code }).toEqual({ spider, status: 400, code: "BAD_SPIDER" });
      if (!spider.startsWith(place)) expect(json.detail).not.toContain(place);
    }
  });
});
