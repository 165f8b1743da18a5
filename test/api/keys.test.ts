/** API keys over HTTP: scopes, expiry, revocation, and secrets that are never returned. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { composeApi } from "../../src/compose/api.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import { newKey } from "../../src/control/new-key.ts";
import { NO_QUOTAS } from "../../src/domain/api-key.ts";
import { newFolder } from "../e2e/folder.ts";
import { startApi } from "./harness.ts";
import { OPERATOR, requestWithKey, startKeyedApi } from "./keyed-api.ts";

const A_JOB = { urls: ["https://a.example/"] };

describe("a server with keys", () => {
  it("requires a key for every request, and describes how to send it", async () => {
    const { request, operator } = await startKeyedApi();

    for (const authorization of [
      undefined,
      "Bearer",
      "Bearer ",
      `Basic ${OPERATOR}`,
      OPERATOR,
      "Bearer trawl_nonsense",
    ]) {
      const answer = await request("GET", "/v1/jobs", undefined, authorization === undefined ? {} : { authorization });
      expect(answer, String(authorization)).toMatchObject({ status: 401, json: { code: "UNAUTHORIZED" } });
      expect(answer.headers.get("www-authenticate")).toBe("Bearer");
      expect(JSON.stringify(answer.json)).not.toContain(OPERATOR);
    }
    expect((await operator("GET", "/v1/jobs")).status).toBe(200);
    expect((await request("GET", "/healthz")).status).toBe(200);
  });

  it("does not read the body of a request without a valid key", async () => {
    const { request } = await startKeyedApi();

    const answer = await request("POST", "/v1/jobs", "{ not even JSON", { "content-type": "application/json" });

    expect(answer.status).toBe(401);
  });

  it("returns a key once, stores its hash, and lists the other fields", async () => {
    const { operator, trawl } = await startKeyedApi();
    const draft = { name: "ci", tenant: "acme", scopes: ["read"], quotas: { pending: 7 } };

    const { json: made } = await operator("POST", "/v1/keys", draft);
    const { json: listed } = await operator("GET", "/v1/keys");
    const { json: one } = await operator("GET", `/v1/keys/${made.id}`);

    const { key, ...rest } = made;
    expect(key).toMatch(/^trawl_[A-Za-z0-9_-]{43}$/);
    expect(rest).toMatchObject({ ...draft, state: "good", quotas: { pending: 7, urlsPerSecond: null, jobs: null } });
    expect(listed).toEqual({ keys: [rest], next: null });
    expect(one).toEqual(rest);
    expect(JSON.stringify(await trawl.store.keys.list(10))).not.toContain(String(key));
  });

  it("refuses a revoked or expired key at once, and says which of the two it is", async () => {
    const { operator, newCaller } = await startKeyedApi();
    const revoked = await newCaller({});
    const expired = await newCaller({ expiresAt: new Date(Date.now() - 1000).toISOString() });
    expect((await revoked.request("GET", "/v1/jobs")).status).toBe(200);

    expect((await operator("DELETE", `/v1/keys/${revoked.id}`)).json).toMatchObject({ state: "revoked" });

    const after = [await revoked.request("GET", "/v1/jobs"), await expired.request("GET", "/v1/jobs")];
    expect(after).toMatchObject([
      { status: 401, json: { detail: expect.stringMatching(/revoked at/) } },
      { status: 401, json: { detail: expect.stringMatching(/expired at/) } },
    ]);
  });

  it("ends an event stream when its key is revoked", async () => {
    const { operator, newCaller, url } = await startKeyedApi();
    const { key, id } = await newCaller({});
    const stream = await fetch(`${url}/v1/events`, { headers: { authorization: `Bearer ${key}` } });
    const ended = stream.text(); // resolves when the server ends the stream

    await operator("DELETE", `/v1/keys/${id}`);

    expect(await ended).toContain("retry:");
  });

  it("applies changes of a key at once, and records when it was last used", async () => {
    const { operator, newCaller } = await startKeyedApi();
    const { request, id } = await newCaller({ scopes: ["read"] });
    expect((await request("POST", "/v1/jobs", A_JOB)).status).toBe(403);

    await operator("PATCH", `/v1/keys/${id}`, { scopes: ["submit"], quotas: { jobs: 1 } });

    expect((await request("POST", "/v1/jobs", A_JOB)).status).toBe(202);
    expect((await request("GET", "/v1/jobs")).status).toBe(403);
    const { json } = await operator("GET", `/v1/keys/${id}`);
    expect(json).toMatchObject({ scopes: ["submit"], quotas: { jobs: 1 }, lastUsedAt: expect.stringMatching(/^20/) });
  });

  it.each([
    ["an unknown scope", { scopes: ["write"] }],
    ["no scope", { scopes: [] }],
    ["the admin scope and a tenant", { scopes: ["admin"], tenant: "acme" }],
    ["an invalid tenant name", { tenant: "a/b" }],
    ["a name with a line break", { name: "a\nb" }],
    ["a quota of zero", { quotas: { pending: 0 } }],
    ["an unknown quota", { quotas: { urls: 5 } }],
    ["a key chosen by the caller", { key: "trawl_mine" }],
  ])("refuses to create a key with %s", async (_, odd) => {
    const { operator } = await startKeyedApi();

    const { status, json } = await operator("POST", "/v1/keys", { name: "x", scopes: ["read"], ...odd });

    expect({ status, code: json.code }).toEqual({ status: 400, code: "BAD_REQUEST" });
  });

  it("refuses cross-origin requests, and answers under any host name", async () => {
    const { operator } = await startKeyedApi();

    expect((await operator("GET", "/v1/jobs", undefined, { origin: "https://evil.example" })).status).toBe(403);
    const { headers, status } = await operator("GET", "/v1/jobs");
    expect(status).toBe(200);
    expect(headers.get("access-control-allow-origin")).toBeNull();
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });

  it("may listen on any address; without a key, only on loopback", async () => {
    const { trawl } = await startApi();
    const config = (values: Record<string, unknown>) => resolveConfig([{ from: "test", values }]);
    const everywhere = config({ apiHost: "0.0.0.0" });
    await expect(composeApi(everywhere, trawl, { nudge() {} })).rejects.toThrow(
      /there are no API keys.*trawl keys add/,
    );

    const apiKeys = [`operator:${OPERATOR}:admin`];
    await expect(composeApi(config({ apiHost: "0.0.0.0", apiKeys }), trawl, { nudge() {} })).resolves.toBeDefined();
    await trawl.store.keys.add(
      newKey({ name: "x", tenant: undefined, scopes: ["read"], quotas: NO_QUOTAS, expiresAt: undefined }, 1).key,
    );
    await expect(composeApi(everywhere, trawl, { nudge() {} })).resolves.toBeDefined();
  });
});

describe("a server without keys", () => {
  it("is open on this machine until the first key is created, and never after that", async () => {
    const api = await startApi();
    expect((await api.request("GET", "/v1/jobs")).status).toBe(200);

    const { json } = await api.request("POST", "/v1/keys", { name: "first", scopes: ["admin"] });
    const first = requestWithKey(api, String(json.key));

    expect((await api.request("GET", "/v1/jobs")).status).toBe(401);
    expect((await first("DELETE", `/v1/keys/${json.id}`)).status).toBe(200);
    expect((await api.request("GET", "/v1/jobs")).status).toBe(401);
  });

  it("loads keys that were created before it started", async () => {
    const store = `sqlite:${join(newFolder(), "store.db")}`;
    const before = await startApi({ store });
    const { json } = await before.request("POST", "/v1/keys", { name: "first", scopes: ["read"] });
    await before.stop();

    const api = await startApi({ store });

    expect((await api.request("GET", "/v1/jobs")).status).toBe(401);
    expect((await requestWithKey(api, String(json.key))("GET", "/v1/jobs")).status).toBe(200);
  });
});
