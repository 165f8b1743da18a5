import { describe, expect, it } from "vitest";
import { resolveConfig } from "./resolve.ts";

const SECRET = "0123456789abcdef0123";
const read = (apiKeys: unknown) => resolveConfig([{ from: "environment", values: { apiKeys } }]).apiKeys;

describe("API keys in the settings", () => {
  it("are parsed with their scopes and an optional tenant", () => {
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
    ["the secret in the position of the scopes", `ci:read+submit+everything:${SECRET}`],
    ["an unknown scope", `ci:${SECRET}:write`],
    ["an invalid tenant name", `ci:${SECRET}:read:a b`],
    ["a tenant's key with the scope admin", `ci:${SECRET}:admin:acme`],
    ["a number instead of text", [7]],
  ])("are refused without showing the secret: %s", (_, apiKeys) => {
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
