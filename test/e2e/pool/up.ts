import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { jsonLines, lastJson } from "../cli.ts";
import { FAST, type FleetBroker, newFleet } from "../fleet/fleet.ts";
import { linkedSite, originOf } from "../sites.ts";
import { type PoolLine, poolLines, started, untilEnded } from "./pool.ts";

const GROUPS = ["--fetch", "2", "--render", "0", "--parse", "1", "--queue", "high_priority", "--no-serve"];

/** Tests workers of several queues under one supervisor. */
export function up(broker: FleetBroker): void {
  it("serves each queue with its own processes, replaces a killed process, and stops with exit code 0", async () => {
    const [fleet, site] = [await newFleet(broker), await linkedSite({ pages: 30 })];
    const running = fleet.start(["up", ...GROUPS, "--json"]);
    await running.prints(/"up\.started"/);
    const flags = [`${site.url}/`, ...FAST, "--wait", "--json", "--quiet"];

    const first = await fleet.run(["submit", ...flags]);
    const [victim] = started(poolLines(running.output()));
    process.kill(victim ?? 0, "SIGKILL");
    await running.prints(/"pool\.process_died","group":"fetch"/);
    const second = await fleet.run(["submit", ...flags, "--queue", "high_priority"]);
    for (const end of [first, second]) {
      expect(end, end.stderr).toMatchObject({ code: 0 });
      expect(lastJson(end)).toMatchObject({ state: "finished", pages: 30, records: 30 });
    }
    await running.prints(/"pool\.process_died"[\s\S]*"pool\.process_started","group":"fetch","process":1/);
    running.kill("SIGTERM");

    const end = await running.ended;
    expect(end, end.stderr).toMatchObject({ code: 0 });
    const groups = [
      { name: "fetch", queues: ["fetch"], processes: 2 },
      { name: "parse", queues: ["parse"], processes: 1 },
      { name: "high_priority", queues: ["high_priority"], processes: 1 },
    ];
    expect(lastJson(end)).toMatchObject({ groups, pages: 60, records: 60 });
    const lines = poolLines(end);
    expect(lines.filter(({ event }) => event === "pool.process_died").map(({ pid }) => pid)).toEqual([victim]);
    expect(lines.filter(({ event }) => event === "pool.process_ended")).toHaveLength(4);
    await untilEnded(started(lines));
  });

  it("prefixes every line with the name of its process", async () => {
    const [fleet, site] = [await newFleet(broker), await originOf({ "/": "<h1>home</h1>" })];
    const spider = `export default {
      name: "chatty", start: ["${site.url}/"], politeness: { robots: false },
      page({ emit, url }) { console.log("a printed line"); emit({ url }); },
    };`;
    writeFileSync(join(fleet.cwd, "chatty.mjs"), spider);
    const only = ["--render", "0", "--parse", "0", "--no-serve"];
    const [plain, json] = [fleet.start(["up", ...only]), fleet.start(["up", ...only, "--queue", "own", "--json"])];
    await fleet.submit(["chatty.mjs", "--queue", "own"]);
    await json.prints(/a printed line/);
    json.kill("SIGTERM");
    await json.ended;
    await fleet.submit(["chatty.mjs"]);
    await plain.prints(/a printed line/);
    plain.kill("SIGTERM");

    const [plainEnd, jsonEnd] = [await plain.ended, await json.ended];
    expect([plainEnd.code, jsonEnd.code]).toEqual([0, 0]);
    expect(plainEnd.stderr).toMatch(/^fetch 1 \| a printed line$/m);
    const line = jsonLines<PoolLine & { text?: string }>(jsonEnd.stderr).find(({ text }) => text === "a printed line");
    expect(line).toMatchObject({ event: "worker.output", group: "own", process: 1 });
  });

  it("refuses to start without any process, or with a queue that is set twice", async () => {
    const fleet = await newFleet(broker);
    const nothing = await fleet.run(["up", "--fetch", "0", "--render", "0", "--parse", "0"]);
    const twice = await fleet.run(["up", "--queue", "fetch=2"]);
    const odd = await fleet.run(["up", "--queue", "a=b"]);

    expect([nothing.code, twice.code, odd.code]).toEqual([2, 2, 2]);
    expect(nothing.stderr).toMatch(/^trawl: BAD_USAGE: nothing to start/);
    expect(twice.stderr).toMatch(/^trawl: BAD_USAGE: queue fetch is set twice/);
    expect(odd.stderr).toMatch(/^trawl: BAD_USAGE: .*must be a whole number/);
  });
}

type UpLine = PoolLine & { url?: string };

/** Tests the server as a process of the same supervisor. */
export function upServer(broker: FleetBroker): void {
  const only = ["--fetch", "1", "--render", "0", "--parse", "0"];

  it("runs the server, and replaces it at the same address when it is killed", async () => {
    const [fleet, site] = [await newFleet(broker), await originOf({ "/": "<h1>home</h1>" })];
    const running = fleet.start(["up", ...only, "--port", "0", "--json"]);
    await running.prints(/"up\.started"/);
    const lines = jsonLines<UpLine>(running.output().stderr);
    const { url = "" } = lines.find(({ event }) => event === "up.started") ?? {};
    const { pid = 0 } = lines.find(({ group }) => group === "trawl serve") ?? {};

    process.kill(pid, "SIGKILL");
    await running.prints(/"up\.server_back"/);
    const api = ["--api", url, "--wait", "--json", "--quiet"];
    const submitted = await fleet.run(["submit", `${site.url}/`, ...api]);
    const port = new URL(url).port;
    const second = await fleet.run(["up", ...only, "--port", port]);
    running.kill("SIGTERM");
    const end = await running.ended;

    expect(lastJson(submitted)).toMatchObject({ state: "finished", pages: 1 });
    expect(running.output().stderr).toContain(`"up.server_back","url":"${url}"`);
    expect(second).toMatchObject({ code: 2, stdout: "" });
    expect(second.stderr).toMatch(
      new RegExp(`^trawl: ADDRESS_TAKEN: 127\\.0\\.0\\.1:${port} is in use: .*--port.*--no-serve$`, "m"),
    );
    expect(second.stderr).not.toContain("fetch 1"); // none of its workers has started a task
    expect(end, end.stderr).toMatchObject({ code: 0 });
    await untilEnded([...started(poolLines(end)), ...started(poolLines(second))]);
  });
}
