/**
 * Failures between a command and a server yield an error with a code and a fix, and no partial result that looks
 * complete.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startBreakingProxy } from "../../api/breaking-proxy.ts";
import { closeLater } from "../../api/harness.ts";
import { requestWithKey } from "../../api/keyed-api.ts";
import { settleTasks } from "../../api/settle-tasks.ts";
import { aPageWrite } from "../../contracts/store/page-write.ts";
import { startTrawl } from "../cli.ts";
import { KEYED, OPERATOR, READER, startBothModes } from "./both-modes.ts";

const FEW = { TRAWL_API_TRIES: "1" };

describe("a command that uses a server", () => {
  it("reports which key it needs, and never prints its own", async () => {
    const { remote } = await startBothModes({}, KEYED);

    const none = await remote(["jobs"], { env: { TRAWL_API_KEY: "" } });
    const wrong = await remote(["jobs", "--log-level", "debug"], { env: { TRAWL_API_KEY: "wrong-key-0123456789" } });
    const lesser = await remote(["submit", "https://a.example/"], { env: { TRAWL_API_KEY: READER } });
    const operators = await remote(["keys"], { env: { TRAWL_API_KEY: READER } });

    expect([none, wrong, lesser, operators].map(({ code, stdout }) => ({ code, stdout }))).toEqual(
      Array(4).fill({ code: 2, stdout: "" }),
    );
    for (const { stderr } of [none, wrong]) expect(stderr).toMatch(/^trawl: UNAUTHORIZED: .*set TRAWL_API_KEY/);
    expect(lesser.stderr).toMatch(/^trawl: FORBIDDEN: .*TRAWL_API_KEY to a key with the scope submit\n$/);
    expect(operators.stderr).toMatch(/scope admin\n$/);
    for (const { stderr } of [wrong, lesser]) expect(stderr).not.toMatch(/wrong-key|reader-key/);
  });

  it("reports a server that does not answer, or is not Trawl", async () => {
    const { remote, stop } = await startBothModes({});
    const other = createServer((_, response) => response.writeHead(404).end("<h1>not here</h1>"));
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    closeLater(async () => void other.close());
    const { port } = other.address() as AddressInfo;

    const strange = await remote(["jobs", "--api", `http://127.0.0.1:${port}`]);
    await stop();
    const gone = await remote(["jobs"], { env: FEW });
    const mistyped = await remote(["jobs", "--api", "localhost:7700"]);
    const both = await remote(["jobs", "--api", "http://127.0.0.1:1", "--broker", "sqlite:x.db"]);

    expect(strange).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/API_UNREACHABLE: .*response \(status 404\) is not from trawl serve/),
    });
    expect(gone).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/API_UNREACHABLE: http:\S+: connect ECONNREFUSED.*--api or TRAWL_API\n$/),
    });
    expect(mistyped).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/BAD_CONFIG: .*TRAWL_API\) takes an http/),
    });
    expect(both).toMatchObject({ code: 2, stderr: expect.stringMatching(/BAD_USAGE: --api cannot be combined/) });
  });

  it("uses no server if flags name broker or store", async () => {
    const { remote, storage } = await startBothModes({});

    const named = await remote(["jobs", "--broker", storage.TRAWL_BROKER ?? "", "--store", storage.TRAWL_STORE ?? ""], {
      env: { TRAWL_API: "http://127.0.0.1:1" },
    });
    const none = await remote(["jobs", "--api", "none"]);

    expect(named).toMatchObject({ code: 0, stderr: expect.stringMatching(/^no jobs yet/) });
    expect(none).toMatchObject({ code: 0, stderr: expect.stringMatching(/^no jobs yet/) });
  });

  it("sends its request again if a server is stopping", async () => {
    const { remote, url } = await startBothModes({});
    let refusals = 2;
    const line = await startBreakingProxy(url, (_, pass) => (refusals-- > 0 ? "stopping" : pass()));

    expect(await remote(["jobs", "--api", line])).toMatchObject({ code: 0 });
    refusals = 99;
    const stopping = await remote(["jobs", "--api", line], { env: FEW });
    expect(stopping).toMatchObject({ code: 3, stderr: expect.stringMatching(/^trawl: STOPPING: /) });
  });
});

describe("an export over a connection that breaks", () => {
  it("continues and is complete", async () => {
    const { url, remote, direct, cwd, request, trawl } = await startBothModes({});
    const { json } = await request("POST", "/v1/jobs", { name: "many", open: true });
    await writeMany(trawl, String(json.id), 3_000);
    // The proxy cuts every second response in the middle.
    let nth = 0;
    const line = await startBreakingProxy(url, (_, pass) => (nth++ % 2 === 1 ? "cut" : pass()));

    const end = await remote(["records", String(json.id), "--api", line, "--out", "remote.csv"]);
    await direct(["records", String(json.id), "--out", "direct.csv"]);

    expect(end).toMatchObject({ code: 0, stderr: "3,000 records written to remote.csv\n" });
    expect(nth).toBeGreaterThan(20);
    expect(readFileSync(join(cwd, "remote.csv"), "utf8")).toBe(readFileSync(join(cwd, "direct.csv"), "utf8"));
  });

  it("leaves no partial file if the connection fails permanently, and keeps an old file", async () => {
    const { url, remote, cwd, request, trawl } = await startBothModes({});
    const { json } = await request("POST", "/v1/jobs", { name: "many", open: true });
    await writeMany(trawl, String(json.id), 3_000);
    writeFileSync(join(cwd, "before.jsonl"), "before");
    for (const name of ["new.jsonl", "before.jsonl", "new.parquet"]) {
      let nth = 0;
      const line = await startBreakingProxy(url, (_, pass) => (nth++ < 5 ? pass() : "cut"));

      const end = await remote(["records", String(json.id), "--api", line, "--out", name], { env: FEW });

      expect(end).toMatchObject({ code: 3, stdout: "", stderr: expect.stringMatching(/^trawl: API_UNREACHABLE: /) });
      expect(existsSync(join(cwd, `${name}.part`))).toBe(false);
    }
    expect(existsSync(join(cwd, "new.jsonl"))).toBe(false);
    expect(existsSync(join(cwd, "new.parquet"))).toBe(false);
    expect(readFileSync(join(cwd, "before.jsonl"), "utf8")).toBe("before");
  });
});

describe("a list that is submitted over a connection that breaks", () => {
  const COUNT = 12_345;
  const list = Array.from({ length: COUNT }, (_, nth) => `https://a.example/${nth}\n`).join("");

  it("is accepted completely, each URL once", async () => {
    const { url, remote, request } = await startBothModes({});
    let nth = 0;
    const line = await startBreakingProxy(url, (_, pass) => (nth++ % 2 === 0 ? "cut" : pass()));

    const end = await remote(["submit", "-", "--follow", "none", "--json", "--api", line], { input: list });

    expect(end.code, end.stderr).toBe(0);
    const { id } = JSON.parse(end.stdout);
    expect((await request("GET", `/v1/jobs/${id}`)).json).toMatchObject({ sealed: true, counts: { queued: COUNT } });
  });

  it("reports how many URLs were accepted if the connection fails permanently, and can be resumed", async () => {
    const { url, remote, request } = await startBothModes({});
    let urls = 0;
    const line = await startBreakingProxy(url, (path, pass) =>
      path.includes("/urls") && urls++ >= 1 ? "cut" : pass(),
    );

    const end = await remote(["submit", "-", "--follow", "none", "--api", line], { input: list, env: FEW });

    expect(end).toMatchObject({ code: 3, stdout: "" });
    const [, id = ""] = /accepted at least 5,000 URLs of job (\S+)[\s\S]*submit --resume/.exec(end.stderr) ?? [];
    expect(end.stderr).toMatch(/trawl: API_UNREACHABLE: /);
    const rest = await remote(["submit", "-", "--resume", id], { input: list });
    expect(rest.code, rest.stderr).toBe(0);
    expect((await request("GET", `/v1/jobs/${id}`)).json).toMatchObject({ sealed: true, counts: { queued: COUNT } });
  });

  it("waits while the broker is full, and continues", async () => {
    const { url, cwd, request, trawl } = await startBothModes({}, { maxPending: 6_000, ...KEYED });
    const operator = requestWithKey({ request }, OPERATOR);
    const env = { TRAWL_API: url, TRAWL_API_KEY: OPERATOR };
    const submitting = startTrawl(["submit", "-", "--follow", "none", "--json"], { cwd, env, input: list });
    await submitting.prints(/full/);

    const { json } = await operator("GET", "/v1/jobs");
    const [{ id }] = json.jobs as unknown as [{ id: string }];
    let ended = 0;
    while (ended < COUNT) ended += await settleTasks(trawl.frontier);
    const { code, stdout } = await submitting.ended;

    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ id, accepted: COUNT, duplicates: 0 });
    expect((await operator("GET", `/v1/jobs/${id}`)).json).toMatchObject({ counts: { submitted: COUNT, done: COUNT } });
  });
});

type Server = Awaited<ReturnType<typeof startBothModes>>["trawl"];

async function writeMany({ store }: Server, jobId: string, count: number): Promise<void> {
  const records = Array.from({ length: count }, (_, nth) => ({ nth, text: `text ${nth}` }));
  await store.write([aPageWrite({ jobId, taskId: "1", records })]);
}
