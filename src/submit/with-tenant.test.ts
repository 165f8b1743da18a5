import { describe, expect, it } from "vitest";
import { resolveConfig } from "../config/resolve.ts";
import { resolveJob } from "./resolve-job.ts";
import { withTenant } from "./with-tenant.ts";

const CONTEXT = { id: "j1", requestId: "r1", queue: undefined, typedHosts: [], out: undefined };
const specOf = (scope: string) => resolveJob({ dedup: { scope } }, resolveConfig([]), CONTEXT);

describe("a tenant's job", () => {
  it("has a named set of seen URLs of the tenant's own", () => {
    const scopes = ["a", "b", undefined].map((tenant) => withTenant(specOf("news"), tenant).dedup.scope);

    expect(new Set(scopes).size).toBe(3);
    expect(scopes[2]).toBe("news");
    expect(withTenant(specOf("news"), "a").dedup).toEqual(withTenant(specOf("news"), "a").dedup);
  });

  it("keeps its own set where it names none", () => {
    expect(withTenant(specOf("job"), "a")).toMatchObject({ tenant: "a", dedup: { scope: "job" } });
  });
});
