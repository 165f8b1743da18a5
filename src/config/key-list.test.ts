import { describe, expect, it } from "vitest";
import { resolveConfig } from "./resolve.ts";

const SECRET = "0123456789abcdef0123";
const read = (apiKeys: unknown) => resolveConfig([{ from: "environment", values: { apiKeys } }]).apiKeys;

describe("keys in the settings", () => {
  it("are read with their scopes, and a tenant where they have one", () => {
    expect(read(`ci:${SECRET}:read+submit:acme, ops:${SECRET}x:admin`)).toEqual([
      { name: "ci", key: SECRET, scopes: ["read", "submit"], tenant: "acme" },
      { name: "ops", key: `${SECRET}x`, scopes: ["read", "submit", "admin"], tenant: undefined },
    ]);
    expect(read("")).toEqual([]);
  });

  it.each([
    ["two parts", `ci:${SECRET}`],
    ["five parts", `ci:${SECRET}:read:a:b`],
    ["a short secret", "ci:hunter2:read"],
    ["no name", `:${SECRET}:read`],
    ["the secret in the place of the scopes", `ci:read+submit+everything:${SECRET}`],
    ["no scope", `ci:${SECRET}:write`],
    ["a tenant that is no name", `ci:${SECRET}:read:a b`],
    ["admin of a tenant", `ci:${SECRET}:admin:acme`],
    ["no text", [7]],
  ])("are refused without being shown: %s", (_, apiKeys) => {
    let message = "";
    try {
      read(apiKeys);
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message).toContain("apiKeys (TRAWL_API_KEYS)");
    expect(message).not.toContain(SECRET);
    expect(message).not.toContain("hunter2");
  });
});
