import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "../../../test/model/seed.ts";
import { type SiteResponse, SiteSpeed } from "./site-speed.ts";

const RATE = 100;

type Answer = Pick<SiteResponse, "error" | "tookMs">;
const GOOD: Answer = { error: undefined, tookMs: 30 };
const BAD: Answer = { error: "503", tookMs: undefined };

/** Sends requests at the rate that the speed control allows, and returns the responses. */
function run(speed: SiteSpeed, count: number, answer: (at: number) => Answer, startAt = 0) {
  let at = startAt;
  let good = 0;
  for (let sent = 0; sent < count; sent++) {
    at += (1000 / RATE) * speed.slowdown;
    const response = answer(at);
    if (response.error === undefined) good += 1;
    speed.add({ startedAt: at, ...response }, at);
  }
  return { perSecond: (good / (at - startAt)) * 1000, errorShare: 1 - good / count, endedAt: at };
}

/** Answers at most `perSecond` requests per second; the others fail. */
function capacity(perSecond: number, depth: number): (at: number) => Answer {
  let tokens = depth;
  let before = 0;
  return (at) => {
    tokens = Math.min(depth, tokens + ((at - before) * perSecond) / 1000);
    before = at;
    if (tokens < 1) return BAD;
    tokens -= 1;
    return GOOD;
  };
}

/** Fails a share of all requests at random. */
function broken(share: number, seed: number): () => Answer {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32 < share ? BAD : GOOD;
  };
}

describe("the speed of a site", () => {
  it("stays at the full rate while all responses are good", () => {
    const speed = new SiteSpeed();
    run(speed, 500, () => GOOD);
    expect([speed.slowdown, speed.cause]).toEqual([1, undefined]);
  });

  it("is between 1/16 and the full rate for any responses", () => {
    const answers = fc.array(fc.constantFrom<Answer[]>(GOOD, BAD, { ...GOOD, tookMs: 5000 }, { ...GOOD, tookMs: 1 }), {
      maxLength: 600,
      size: "max",
    });
    fc.assert(
      fc.property(answers, (all) => {
        const speed = new SiteSpeed();
        for (const [at, answer] of all.entries()) {
          speed.add({ startedAt: at, ...answer }, at);
          expect(speed.slowdown).toBeGreaterThanOrEqual(1);
          expect(speed.slowdown).toBeLessThanOrEqual(16);
          if (speed.slowdown === 1) expect(speed.cause).toBeUndefined();
        }
      }),
      seeded(100),
    );
  });

  it("finds the capacity of a site, and then sends few requests above it", () => {
    fc.assert(
      fc.property(fc.integer({ min: 8, max: 90 }), fc.integer({ min: 3, max: 40 }), (perSecond, depth) => {
        const speed = new SiteSpeed();
        const answer = capacity(perSecond, depth);
        const { endedAt } = run(speed, 600, answer);
        const later = run(speed, 2000, answer, endedAt);
        expect(later.perSecond).toBeGreaterThan(0.85 * perSecond);
        expect(later.errorShare).toBeLessThan(0.02);
      }),
      seeded(50),
    );
  });

  it("returns to the full rate when the capacity of a site has grown", () => {
    const speed = new SiteSpeed();
    const { endedAt } = run(speed, 600, capacity(20, 10));
    expect(speed.slowdown).toBeGreaterThan(4);
    run(speed, 600, () => GOOD, endedAt);
    expect(speed.slowdown).toBe(1);
  });

  it.each([0.1, 0.2, 0.3, 0.4])("returns to the full rate if %d of all requests fail at any rate", (share) => {
    const reached = fc.sample(fc.nat(), seeded(100)).map((seed) => {
      const speed = new SiteSpeed();
      const answer = broken(share, seed);
      const { endedAt } = run(speed, 1000, answer);
      return run(speed, 4000, answer, endedAt).perSecond / (RATE * (1 - share));
    });
    // By chance, a few of 100 random sequences look as if the errors depended on the load.
    expect(reached.filter((part) => part < 0.6).length).toBeLessThanOrEqual(5);
  });

  it.each([0.002, 0.005, 0.01])("keeps most of the rate if %d of all requests fail at any rate", (share) => {
    const reached = fc.sample(fc.nat(), seeded(100)).map((seed) => {
      return run(new SiteSpeed(), 4000, broken(share, seed)).perSecond / RATE;
    });
    expect(reached.filter((part) => part < 0.6).length).toBeLessThanOrEqual(5);
  });

  it("falls to its minimum while every request fails, and says why", () => {
    const speed = new SiteSpeed();
    run(speed, 100, () => BAD);
    expect(speed.slowdown).toBe(16);
    expect(speed.cause).toEqual({ kind: "errors", percent: 100, error: "503" });
  });

  it("slows down for a site whose response time depends on the load", () => {
    const speed = new SiteSpeed();
    const { endedAt } = run(speed, 40, () => GOOD);
    const answer = () => ({ ...GOOD, tookMs: 30 + Math.max(0, 1 / speed.slowdown - 0.4) * 2000 });
    run(speed, 400, answer, endedAt);
    expect(speed.slowdown).toBeGreaterThan(1.5);
    expect(speed.cause).toMatchObject({ kind: "latency", usualMs: expect.any(Number) });
  });

  it("accepts a response time that does not depend on the load", () => {
    const speed = new SiteSpeed();
    const { endedAt } = run(speed, 40, () => GOOD);
    run(speed, 600, () => ({ ...GOOD, tookMs: 900 }), endedAt);
    expect(speed.slowdown).toBe(1);
  });

  it("ignores responses to requests from before the last change", () => {
    const speed = new SiteSpeed();
    for (let nth = 0; nth < 5; nth++) speed.add({ startedAt: 10, ...BAD }, 20);
    expect(speed.slowdown).toBe(1.25);
    for (let nth = 0; nth < 50; nth++) speed.add({ startedAt: 19, ...BAD }, 30);
    expect(speed.slowdown).toBe(1.25);
  });

  it("does not slow down a site to less than one request in 10 seconds", () => {
    const speed = new SiteSpeed();
    speed.limitTo(4000);
    run(speed, 100, () => BAD);
    expect(speed.slowdown).toBe(2.5);
    const slow = new SiteSpeed();
    slow.limitTo(60_000);
    run(slow, 100, () => BAD);
    expect(slow.slowdown).toBe(1);
  });

  it("continues with the slowdown that another worker has found", () => {
    const speed = new SiteSpeed();
    speed.adopt(4, 0);
    expect(speed.slowdown).toBe(4);
    run(speed, 2000, () => GOOD);
    expect(speed.slowdown).toBe(1);
  });
});
