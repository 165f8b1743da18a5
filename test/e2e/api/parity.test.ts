/**
 * Every command has the same stdout, stderr and exit code through a server as with direct access to broker and store.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { requestWithKey } from "../../api/keyed-api.ts";
import { ended } from "../../api/working-api.ts";
import { aPageWrite } from "../../contracts/store/page-write.ts";
import type { CliEnd } from "../cli.ts";
import { type BothModes, comparableOutput, KEYED, OPERATOR, startBothModes } from "./both-modes.ts";

type WithJobs = BothModes & { done: string; open: string };

/** Creates an ended job with records, invalid records and a dead letter, a paused job, and two schedules. */
async function startWithJobs(settings: Record<string, unknown> = {}): Promise<WithJobs> {
  const page = (nth: number) => `<h1>page ${nth}</h1><p>=${nth}</p>`;
  const modes = await startBothModes({ "/0": page(0), "/1": page(1), "/2": page(2) }, settings);
  const { site, startWorker, trawl } = modes;
  const request = requestWithKey(modes, OPERATOR);
  const urls = ["/0", "/1", "/2", "/gone"].map((path) => site.url + path);
  const job = { name: "shop", urls, extract: { title: "h1", text: "p" }, politeness: { robots: false } };
  const { json } = await request("POST", "/v1/jobs", job);
  await startWorker();
  const done = String(json.id);
  await ended({ ...modes, request }, done);
  const invalid = [0, 1].map((nth) => ({ fields: { nth }, reason: `too ${nth}` }));
  await trawl.store.write([aPageWrite({ jobId: done, taskId: "900", records: [], invalid })]);
  const open = await request("POST", "/v1/jobs", { name: "later", urls: ["https://a.example/"], open: true });
  await trawl.frontier.pause(String(open.json.id));
  await request("POST", "/v1/schedules", { name: "nightly", cron: "0 3 * * *", timeZone: "Europe/Berlin", job });
  await request("POST", "/v1/schedules", {
    name: "often",
    every: "15m",
    paused: true,
    job: { ...job, headers: { a: "b" } },
  });
  return { ...modes, done, open: String(open.json.id) };
}

const READ_COMMANDS = ({ done, open, site }: WithJobs): string[][] => {
  const host = new URL(site.url).host;
  return [
    ["jobs"],
    ["jobs", "--limit", "1", "--json"],
    ["job", done],
    ["job", open, "--json"],
    ["job", "nonsense"],
    ["records", done],
    ["records", done, "--json"],
    ["records", done, "--format", "csv"],
    ["records", done, "--format", "json"],
    ["records", done, "--format", "parquet"],
    ["records", done, "--invalid"],
    ["records", open],
    ["dead"],
    ["dead", done, "--json"],
    ["dead", done, "--list"],
    ["dead", done, "--list", "--json", "--status", "404"],
    ["dead", done, "--reason", "nonsense"],
    ["dead", done, "--site", "b.example"],
    ["explain", done],
    ["explain", open, "--json"],
    ["explain", "https://a.example/", "--json"],
    ["explain", `${site.url}/0`],
    ["explain", host],
    ["trace", done, "--json"],
    ["trace", `${site.url}/0`],
    ["workers", "--json"],
    ["schedule"],
    ["schedule", "--json"],
    ["schedule", "show", "nightly"],
    ["schedule", "show", "often", "--json"],
    ["schedule", "show", "nonsense"],
    ["keys"],
    ["keys", "list", "--json"],
    ["keys", "revoke", "nonsense"],
    ["change", open],
  ];
};

/**
 * A worker updates its state every few seconds, perhaps between the two commands. Only the stable fields are compared.
 */
function withoutVolatile(args: readonly string[], end: CliEnd): CliEnd {
  if (args[0] !== "workers") return end;
  const volatile = /"(busy|ms|pages|done|failed|rssBytes|eventLoopUse|startedAt|seenAt)":(?:[\d.e-]+|"[^"]*")/g;
  return { ...end, stdout: end.stdout.replaceAll(volatile, '"$1":"-"') };
}

describe("a command that uses a server", () => {
  it.each([
    ["without keys", {}],
    ["with keys", KEYED],
  ])(
    "prints the same as without one, %s",
    async (_, settings) => {
      const world = await startWithJobs(settings);

      const both: [string, object, object][] = [];
      for (const args of READ_COMMANDS(world)) {
        const ends = await Promise.all([world.direct(args), world.remote(args)]);
        both.push([
          args.join(" "),
          ...(ends.map((end) => comparableOutput(withoutVolatile(args, end))) as [object, object]),
        ]);
      }

      expect(both.map(([args, , remote]) => [args, remote])).toEqual(both.map(([args, direct]) => [args, direct]));
      // Proves that the commands succeed: otherwise two failures would be compared.
      expect(both.filter(([, direct]) => (direct as { code: number }).code === 0).length).toBeGreaterThan(25);
    },
    400_000,
  );

  it("writes the same files", async () => {
    const { cwd, direct, remote, done, trawl } = await startWithJobs(KEYED);
    const many = Array.from({ length: 1_700 }, (_, nth) => ({ nth, text: `=${nth}`, list: [nth] }));
    await trawl.store.write([aPageWrite({ jobId: done, taskId: "901", records: many })]);

    for (const name of ["a.jsonl", "a.json", "a.csv", "a.parquet"]) {
      const ends = [
        await direct(["records", done, "--out", `direct-${name}`]),
        await remote(["records", done, "--out", `remote-${name}`]),
      ];
      expect(ends.map(({ stderr }) => stderr)).toEqual(
        ["direct-", "remote-"].map((way) => `1,703 records written to ${way}${name}\n`),
      );
      const [one, other] = ["direct-", "remote-"].map((way) => readFileSync(join(cwd, way + name)));
      expect(other?.equals(one ?? Buffer.alloc(0)), name).toBe(true);
    }
  }, 400_000);

  it("has the same effects as without one", async () => {
    const { cwd, direct, remote } = await startBothModes({}, KEYED); // without a worker, so that tasks keep waiting
    const names = { direct, remote };
    writeFileSync(join(cwd, "urls.txt"), "https://a.example/1\nnonsense\nhttps://a.example/2\nhttps://a.example/1\n");
    const ends: Record<keyof typeof names, object[]> = { direct: [], remote: [] };

    for (const way of ["direct", "remote"] as const) {
      const run = async (args: string[], options = {}) => {
        const end = await names[way](args, options);
        ends[way].push({ args: args[0], ...comparableOutput(end, id, scheduleId, keyId) });
        return end;
      };
      let [id, scheduleId, keyId] = ["(none)", "(none)", "(none)"];
      id = String(
        JSON.parse((await run(["submit", "urls.txt", "--follow", "none", "--json", "-e", "t=h1"])).stdout).id,
      );
      await run(["submit", "https://b.example/", "--name", "plain", "--queue", "slow", "--priority", "2"]);
      await run(["submit", "nonsense"]);
      await run(["submit", "-", "--follow", "none"], { input: "no\nnone\n" });
      await run(["submit", "https://b.example/", "-e", "t=h1:::"]);
      await run(["change", id, "--rate", "1/s", "--max-pages", "9"]);
      await run(["pause", id]);
      await run(["resume", id, "--json"]);
      await run(["cancel", id]);
      await run(["resume", id]);
      await run(["pause", "nonsense"]);
      scheduleId = String(
        JSON.parse(
          (await run(["schedule", "add", "https://a.example/", "--name", way, "--every", "1d", "--json"])).stdout,
        ).id,
      );
      await run(["schedule", "add", "https://a.example/", "--cron", "nonsense"]);
      await run(["schedule", "pause", scheduleId]);
      await run(["schedule", "resume", scheduleId]);
      await run(["schedule", "run", scheduleId, "--json"]);
      await run(["schedule", "remove", scheduleId]);
      await run(["schedule", "remove", scheduleId]);
      keyId = String(
        JSON.parse((await run(["keys", "add", `${way}-ci`, "--tenant", "acme", "--max-jobs", "5", "--json"])).stdout)
          .id,
      );
      await run(["keys", "add", "x", "--tenant", "acme", "--scopes", "admin"]);
      await run(["keys", "revoke", keyId]);
      await run(["keys", "revoke", keyId, "--json"]);
    }

    const asDirect = JSON.parse(JSON.stringify(ends.remote).replaceAll("remote", "direct"));
    expect(asDirect).toEqual(JSON.parse(JSON.stringify(ends.direct)));
  }, 400_000);

  it("replays and discards the same dead letters", async () => {
    const ends: object[] = [];
    for (const way of ["direct", "remote"] as const) {
      const world = await startWithJobs(KEYED);
      const run = async (...args: string[]) => ends.push(comparableOutput(await world[way](args), world.done));
      await run("dead", world.done, "--discard", "--status", "500", "--json");
      await run("dead", world.done, "--replay", "--per-second", "5");
      await run("dead", world.done, "--replay", "--discard");
    }

    expect(ends.slice(3)).toEqual(ends.slice(0, 3));
    expect(ends[1]).toMatchObject({ stderr: "1 URL queued again; workers on queue fetch fetch them\n" });
  }, 400_000);
});
