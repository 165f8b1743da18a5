/** The recrawl set of a schedule belongs to the schedule and its tenant, and is removed with the schedule. */
import { expect, it } from "vitest";
import { composeSchedules } from "../../src/compose/schedules.ts";
import { NO_QUOTAS } from "../../src/domain/api-key.ts";
import { openWorld } from "./world.ts";

it("an unnamed recrawl set gets the name of its schedule and tenant, and is removed with the schedule", async () => {
  const { trawl, config } = await openWorld();
  const { schedules } = composeSchedules(config, trawl);
  await trawl.store.keys.add({
    ...{ id: "k1", hash: "h", name: "acme's", tenant: "acme", scopes: ["submit"], quotas: NO_QUOTAS },
    ...{ createdAt: 0, expiresAt: undefined },
  });
  async function runNow(recrawl: { set?: string; emit?: "changed" }, tenant: string | undefined) {
    const schedule = await schedules.add({ every: "1d", job: { urls: ["https://a.test/"], recrawl } }, tenant);
    const { jobId = "" } = await schedules.runNow(schedule);
    const job = await trawl.frontier.findJob(jobId);
    return { schedule, recrawl: job?.spec.recrawl };
  }

  const own = await runNow({ emit: "changed" }, undefined);
  const tenants = await runNow({}, "acme");
  const named = await runNow({ set: "shop" }, undefined);

  expect(own.recrawl).toEqual({ set: `schedule/${own.schedule.id}`, emit: "changed" });
  expect(tenants.recrawl).toEqual({ set: `tenant/acme/schedule/${tenants.schedule.id}`, emit: "all" });
  expect(named.recrawl).toEqual({ set: "shop", emit: "all" });

  const sets = [own, tenants, named].map(({ recrawl }) => recrawl?.set ?? "");
  const page = { url: "https://a.test/", jobId: "j", taskId: "t", token: 1, fetchedAt: 1 };
  const read = { reads: "r", etag: undefined, lastModified: undefined, fingerprint: "f", content: undefined };
  await trawl.store.write(
    [],
    [],
    sets.map((set) => ({ set, ...page, ...read })),
  );
  for (const { schedule } of [own, tenants, named]) await schedules.remove(schedule);

  const queries = sets.map((set) => ({ set, url: page.url, jobId: "later" }));
  const left = (await trawl.store.recall(queries)).map((memory) => memory?.fingerprint);
  expect(left).toEqual([undefined, undefined, "f"]); // other jobs may use a named set
});
