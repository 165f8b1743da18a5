import { describe, expect, it } from "vitest";
import { resolveConfig } from "../config/resolve.ts";
import { resolveJob } from "./resolve-job.ts";
import { setOfSchedule, wholeSetOfSchedule, withTenant } from "./with-tenant.ts";

const CONTEXT = { id: "j1", requestId: "r1", queue: undefined, typedHosts: [], out: undefined };
const specOf = (scope: string) => resolveJob({ dedup: { scope } }, resolveConfig([]), CONTEXT);

describe("a tenant's job", () => {
  it("has a named dedup scope that no other tenant shares", () => {
    const scopes = ["a", "b", undefined].map((tenant) => withTenant(specOf("news"), tenant).dedup.scope);

    expect(new Set(scopes).size).toBe(3);
    expect(scopes[2]).toBe("news");
    expect(withTenant(specOf("news"), "a").dedup).toEqual(withTenant(specOf("news"), "a").dedup);
  });

  it("has a recrawl set that no other tenant shares, whatever the names of tenants and sets", () => {
    const setOf = (set: string, tenant: string | undefined) => {
      const spec = resolveJob({}, resolveConfig([]), CONTEXT);
      return withTenant({ ...spec, recrawl: { set, emit: "all" } }, tenant).recrawl?.set;
    };

    expect(setOf("s", undefined)).toBe("s");
    const sets = [setOf("b/s", "a"), setOf("s", "a/b"), setOf("s", "a"), setOf("s", "b"), setOf("schedule", "a")];
    expect(new Set(sets).size).toBe(sets.length);
    const whole = wholeSetOfSchedule({ id: "1", tenant: "a" });
    expect(whole).toBe(setOf(setOfSchedule("1"), "a"));
    expect(wholeSetOfSchedule({ id: "1", tenant: undefined })).toBe(setOfSchedule("1"));
  });

  it("keeps the dedup scope of the job if it names none", () => {
    expect(withTenant(specOf("job"), "a")).toMatchObject({ tenant: "a", dedup: { scope: "job" } });
  });
});
