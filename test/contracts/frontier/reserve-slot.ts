import { expect } from "vitest";
import { guardMs, type SitePolicy } from "../../../src/domain/politeness.ts";
import type { Grant } from "../../../src/frontier/frontier.ts";
import { START_AT, type Suite } from "./backend.ts";
import { aJob, drain, grantsOf, oneGrant, submit, tasksAt } from "./makers.ts";

const SLOW: SitePolicy = { intervalMs: 1000, burst: 1, perSite: 10 };
const SLOW_SPACING = 1000 + guardMs(1000);

/** Further requests of a task (F2), and how a change of rate affects earlier requests (F12). */
export function reserveSlots({ open, test }: Suite): void {
  test("F2 counts further requests of a task against the same rate", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob({ policy: SLOW }), tasksAt("a.test", 2));
    await oneGrant(frontier);

    const hop = await frontier.reserveSlot("a.test");
    expect(hop.sendAt).toBe(START_AT + SLOW_SPACING);
    const next = await frontier.reserveSlot("a.test");
    expect(next.sendAt).toBe(START_AT + 2 * SLOW_SPACING);

    clock.advance(2 * SLOW_SPACING);
    expect(await grantsOf(frontier)).toEqual([]);
    clock.advance(SLOW_SPACING);
    expect(await grantsOf(frontier)).toHaveLength(1);
  });

  test("F2 frees an unused slot if it was the last one reserved", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob({ policy: SLOW }), tasksAt("a.test", 1));
    const { slot } = await oneGrant(frontier);

    clock.advance(300);
    const again = await frontier.reserveSlot("a.test", slot);

    expect(again.sendAt).toBe(clock.now());
  });

  test("F2 does not free a slot if another was reserved after it", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob({ policy: SLOW }), tasksAt("a.test", 1));
    const { slot } = await oneGrant(frontier);
    await frontier.reserveSlot("a.test");

    const again = await frontier.reserveSlot("a.test", slot);

    expect(again.sendAt).toBe(START_AT + 2 * SLOW_SPACING);
  });

  test("F2 does not free a slot after the rate has changed", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob({ policy: { ...SLOW, intervalMs: 100 } }), tasksAt("a.test", 1));
    const { slot: used } = await oneGrant(frontier);
    const unused = await frontier.reserveSlot("a.test");
    await frontier.setPolicy("job", SLOW);

    clock.advance(10);
    const again = await frontier.reserveSlot("a.test", unused);

    expect(again.sendAt - used.sendAt).toBeGreaterThanOrEqual(1000);
  });

  test("F12 a stricter rate counts from the last request, not from the next", async () => {
    const broker = await open();
    await submit(broker.frontier, aJob({ policy: { ...SLOW, intervalMs: 100 } }), tasksAt("a.test", 2));
    const first = await oneGrant(broker.frontier);

    await broker.frontier.setPolicy("job", { ...SLOW, intervalMs: 5000 });

    expect(gapTo(first, await drain(broker))).toBe(5000 + guardMs(5000));
  });

  test("F12 a stricter rate counts every request of the burst before it", async () => {
    const broker = await open();
    const policy = { intervalMs: 100, burst: 3, perSite: 10 };
    await submit(broker.frontier, aJob({ policy }), tasksAt("a.test", 4));
    const burst = await grantsOf(broker.frontier);
    expect(burst).toHaveLength(3);

    await broker.frontier.setPolicy("job", { ...policy, intervalMs: 1000 });

    expect(gapTo(burst[0], await drain(broker))).toBe(SLOW_SPACING);
  });

  test("F12 a looser rate frees the site at once", async () => {
    const broker = await open();
    await submit(broker.frontier, aJob({ policy: { ...SLOW, intervalMs: 3_600_000 } }), tasksAt("a.test", 2));
    const first = await oneGrant(broker.frontier);

    await broker.frontier.setPolicy("job", SLOW);

    expect(gapTo(first, await drain(broker))).toBe(SLOW_SPACING);
  });

  test("F12 a looser rate keeps a full interval to slots that are already reserved", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob({ policy: SLOW }), tasksAt("a.test", 1));
    await frontier.reserveSlot("a.test");
    const last = await frontier.reserveSlot("a.test");

    await frontier.setPolicy("job", { ...SLOW, intervalMs: 100 });
    const next = await frontier.reserveSlot("a.test");

    expect(next.sendAt - last.sendAt).toBeGreaterThanOrEqual(100);
  });

  test("F12 a changed rate of a running job does not override the job's own rule for a site", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob({ sites: { "b.test": SLOW } }), [...tasksAt("a.test", 1), ...tasksAt("b.test", 1)]);

    await frontier.setPolicy("job", { intervalMs: 70, burst: 2, perSite: 3 });

    expect((await frontier.listSites(10)).map(({ site, policy }) => [site, policy.intervalMs])).toEqual([
      ["a.test", 70],
      ["b.test", 1000],
    ]);
  });
}

function gapTo(first: Grant | undefined, [next]: readonly Grant[]): number {
  return (next?.slot.sendAt ?? Number.NaN) - (first?.slot.sendAt ?? Number.NaN);
}
