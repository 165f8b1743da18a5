import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { lastJson } from "../cli.ts";
import { linkedSite } from "../sites.ts";
import { type Diagnosis, FAST, type FleetBroker, newFleet, type Submitted, slowSite } from "./fleet.ts";

/** Tests the findings of doctor and the fixes that it suggests. */
export function examining(broker: FleetBroker): void {
  it("is healthy if it is idle, and if every queue with tasks has a worker", async () => {
    const [fleet, { site, open }] = [await newFleet(broker), await slowSite()];
    expect(await fleet.diagnose()).toMatchObject({ code: 0, healthy: true });
    const worker = await fleet.worker();
    await fleet.submit([`${site.url}/`, "--ignore-robots", ...FAST]);
    await site.waitForRequests(2);

    const { code, findings } = await fleet.diagnose();

    expect(findings.filter(isTrouble)).toEqual([]);
    expect(code).toBe(0);
    open();
    worker.kill("SIGTERM");
    await worker.ended;
  });

  it("gets a report of queues without a worker and of workers without a job, with fixes", async () => {
    const [fleet, site] = [await newFleet(broker), await linkedSite({ pages: 10 })];
    await fleet.submit([`${site.url}/`, "--queue", "high_priority"]);
    expect((await fleet.diagnose()).findings).toContainEqual({
      check: "queue high_priority",
      verdict: "problem",
      message: "1 URL waiting, and no worker is running",
      fix: "start one with: trawl worker --queues high_priority",
    });
    const worker = await fleet.worker(["--queues", "high-priority"]);
    const seen = await fleet.poll(fleet.diagnose, ({ findings }) =>
      findings.some(({ check }) => check === "queue high-priority"),
    );

    expect(seen).toMatchObject({ code: 1, healthy: false });
    const found = seen.findings.filter(isTrouble);
    expect(found).toMatchObject([
      { check: "queue high_priority", verdict: "problem", message: "1 URL waiting, and no worker serves the queue" },
      { check: "queue high-priority", verdict: "warning", message: expect.stringContaining("no job uses this queue") },
    ]);
    const shown = await fleet.run(["doctor"]);
    expect(shown).toMatchObject({ code: 1, stderr: expect.stringMatching(/^1 problem, \d warnings?\n$/) });
    for (const line of shown.stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    worker.kill("SIGTERM");
    await worker.ended;
  });

  it("reports an unreachable broker: a finding of doctor, exit code 3 of every other command", async () => {
    const fleet = await newFleet(broker);
    const env = { ...broker.missing, TRAWL_BROKER_RETRY_FOR: "200ms" };

    const doctor = await fleet.run(["doctor", "--json"], { env });

    expect(doctor).toMatchObject({ code: 1, stderr: "" });
    expect(lastJson<Diagnosis>(doctor).findings).toMatchObject([
      { check: "broker", verdict: "problem", fix: expect.stringContaining("TRAWL_BROKER") },
      { check: "store", verdict: "ok" },
      { check: "bodies", verdict: "ok" },
    ]);
    for (const args of [["worker"], ["submit", "http://a.test/"], ["jobs"]]) {
      const end = await fleet.run(args, { env });
      expect(end).toMatchObject({ code: 3, stdout: "" });
      expect(end.stderr).toMatch(/^trawl: BROKER_UNREACHABLE: /m);
      expect(end.stderr).not.toContain("s3cret");
    }
    expect(doctor.stdout).not.toContain("s3cret");
  });
}

/** Tests a spider whose file was removed after the submission. */
export function missingSpiders(broker: FleetBroker): void {
  it("continues with other jobs if a spider cannot be loaded, and reports it", async () => {
    const [fleet, site] = [await newFleet(broker), await linkedSite({ pages: 10 })];
    const spider = `export default {
      name: "lost", start: ["${site.url}/page/1"], politeness: { robots: false }, page({ emit, url }) { emit({ url }); },
    };`;
    writeFileSync(join(fleet.cwd, "lost.mjs"), spider);
    const lost = await fleet.submit(["lost.mjs"]);
    rmSync(join(fleet.cwd, "lost.mjs"));
    const worker = await fleet.worker();

    const other = await fleet.run(["submit", `${site.url}/page/2`, "--follow", "none", "--wait", "--json", "--quiet"]);

    expect(lastJson<Submitted>(other)).toMatchObject({ state: "finished", pages: 1 });
    await fleet.poll(
      () => fleet.job(lost.id),
      ({ state }) => state === "failed",
    );
    const { findings, code } = await fleet.poll(fleet.diagnose, (seen) =>
      seen.findings.some(({ check }) => check === "spiders"),
    );
    expect(code).toBe(0);
    const found = findings.find(({ check }) => check === "spiders");
    expect(found).toMatchObject({ verdict: "warning", message: expect.stringContaining("lost.mjs") });
    writeFileSync(join(fleet.cwd, "lost.mjs"), spider);
    await fleet.run(["dead", lost.id, "--replay"]);
    await fleet.poll(
      () => fleet.job(lost.id),
      ({ state }) => state === "finished",
    );
    worker.kill("SIGTERM");
    await worker.ended;
  });
}

/** Findings about the broker are left out: a test server has settings that doctor warns about. */
function isTrouble({ check, verdict }: Diagnosis["findings"][number]): boolean {
  return verdict !== "ok" && !check.startsWith("broker");
}
