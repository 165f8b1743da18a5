import { describe, expect, it } from "vitest";
import { exitsFrom } from "../../../test/site/exits.ts";
import { DEFAULT_EXIT_RULES, type ExitRules } from "../../domain/exit.ts";
import { type ChosenExit, chooseExit } from "./choose-exit.ts";
import { type Health, NO_HEALTH } from "./health.ts";

const NOW = 1_000_000;
const PROBATION: Health = { ...NO_HEALTH, ejections: 1, ejectedUntil: NOW - 1, because: "failed" };
const BLOCKED: Health = { ...NO_HEALTH, ejections: 1, ejectedUntil: NOW + 60_000, because: "blocked" };
const FAILED: Health = { ...NO_HEALTH, ejections: 1, ejectedUntil: NOW + 10_000, because: "failed" };

const [A1, A2, B1] = ["http://a1.test:1", "http://a2.test:1", "http://b1.test:1"];
const EXITS = exitsFrom([
  { url: A1, tags: ["a"] },
  { url: A2, tags: ["a"] },
  { url: B1, tags: ["b"] },
]);
const TIERS: ExitRules = { ...DEFAULT_EXIT_RULES, use: ["a"], fallbacks: ["b"] };

describe("an exit whose ejection is over", () => {
  it("is tried by the first attempt of a request, and not by the attempts after a failure", () => {
    const health = { [A2]: PROBATION };
    expect(chosen({ health })).toMatchObject({ label: A2, isProbe: true });
    expect(chosen({ health, avoid: [B1] })).toMatchObject({ label: A1, isProbe: false });
  });

  it("is tried by one request at a time", () => {
    expect(chosen({ health: { [A2]: PROBATION }, probed: [A2] })).toMatchObject({ label: A1, isProbe: false });
  });

  it.each(["site", "session"] as const)("is not tried with rotate: %s while there is a healthy one", (rotate) => {
    const rules = { ...TIERS, rotate };
    for (const session of ["s1", "s2", "s3", "s4"]) {
      expect(chosen({ rules, session, health: { [A1]: PROBATION } })).toMatchObject({ label: A2, isProbe: false });
    }
    expect(chosen({ rules, health: { [A1]: PROBATION, [A2]: FAILED } })).toMatchObject({ label: A1, isProbe: true });
  });

  it("is used after a failure if no exit is healthy", () => {
    expect(chosen({ rules: TIERS, health: { [A2]: PROBATION }, avoid: [A1] })).toMatchObject({ label: A2 });
  });
});

describe("the next tier", () => {
  it("is not used because the exits of the first tier are down", () => {
    expect(chosen({ rules: TIERS, avoid: [A1, A2] })).toBeUndefined();
    expect(chosen({ rules: TIERS, health: { [A2]: FAILED }, avoid: [A1] })).toMatchObject({ label: A2, tier: 0 });
  });

  it("is used if an exit of the first tier is ejected because of blocks, even if it has failed this request", () => {
    const health = { [A1]: BLOCKED, [A2]: FAILED };
    expect(chosen({ rules: TIERS, health })).toMatchObject({ label: B1, tier: 1 });
    expect(chosen({ rules: TIERS, health, avoid: [A1] })).toMatchObject({ label: B1, tier: 1 });
  });

  it("is included if all exits are ejected: the ejection that ends first decides", () => {
    const health = { [A1]: BLOCKED, [A2]: BLOCKED, [B1]: FAILED };
    expect(chosen({ rules: TIERS, health })).toMatchObject({ label: B1, tier: 1, isProbe: false });
  });
});

type Case = {
  rules?: ExitRules;
  session?: string;
  /** Health at the site, by the label of the exit. */
  health?: Record<string, Health>;
  avoid?: string[];
  probed?: string[];
};

function chosen({ rules = DEFAULT_EXIT_RULES, session, health = {}, avoid = [], probed = [] }: Case) {
  const labelOf = (id: string) => EXITS.find((exit) => exit.id === id)?.label ?? "";
  const avoided = new Set(EXITS.filter(({ label }) => avoid.includes(label)).map(({ id }) => id));
  const found: ChosenExit | undefined = chooseExit(
    { rules, site: "s.test", session, scheme: "https:", tier: 0, lastTier: rules.fallbacks.length, avoid: avoided },
    {
      exits: EXITS,
      healthAtSite: (id) => health[labelOf(id)] ?? NO_HEALTH,
      healthOf: () => NO_HEALTH,
      isProbed: (id) => probed.includes(labelOf(id)),
      ...{ now: NOW, requestNumber: 0, random: 0.5 },
    },
  );
  return found === undefined ? undefined : { label: found.exit.label, tier: found.tier, isProbe: found.isProbe };
}
