/**
 * Scopes and tenants for every route. The test reads the routes from the OpenAPI document, so it covers new routes as
 * well.
 */
import { describe, expect, it } from "vitest";
import { SCOPES, type Scope } from "../../src/domain/api-key.ts";
import { aPageWrite } from "../contracts/store/page-write.ts";
import { OPERATOR, startKeyedApi } from "./keyed-api.ts";

/** The keys of the callers. The operator's key is in the settings. */
const CALLERS: Readonly<Record<string, { tenant?: string; scopes: readonly Scope[] }>> = {
  reader: { tenant: "one", scopes: ["read"] },
  submitter: { tenant: "one", scopes: ["submit"] },
  one: { tenant: "one", scopes: ["read", "submit"] },
  two: { tenant: "two", scopes: ["read", "submit"] },
  operator: { scopes: SCOPES },
};

type Operation = { method: string; path: string; scope: string; example: unknown; security: unknown[] };

describe("every route", () => {
  it("declares its scope", async () => {
    const { operations } = await start();

    expect(operations.length).toBeGreaterThan(20);
    expect(operations.filter(({ scope }) => ![...SCOPES, "open"].includes(scope as Scope))).toEqual([]);
    const open = operations.filter(({ scope }) => scope === "open").map(({ path }) => path);
    expect(open.filter((path) => path.startsWith("/v1/"))).toEqual([]);
    for (const { scope, security } of operations) {
      expect(security).toEqual(scope === "open" ? [] : [{ key: [scope] }]);
    }
  });

  it("refuses a request without a key, and a key without its scope", async () => {
    const { operations, send } = await start();

    for (const operation of operations.filter(({ scope }) => scope !== "open")) {
      const name = `${operation.method} ${operation.path}`;
      expect([name, (await send(operation, undefined)).status]).toEqual([name, 401]);
      const lesser = Object.keys(CALLERS).filter((who) => !CALLERS[who]?.scopes.includes(operation.scope as Scope));
      expect(lesser.length).toBeGreaterThan(0);
      for (const who of lesser) {
        expect([name, who, (await send(operation, who)).status]).toEqual([name, who, 403]);
      }
    }
  });

  it("returns 404 for a job or a page of another tenant", async () => {
    const { operations, send } = await start();
    const own = operations.filter(({ path, scope }) => path.includes("{id}") && scope !== "admin");
    const isLast = ({ method }: Operation) => Number(method === "DELETE"); // the other operations need the object
    const named = own.sort((one, other) => isLast(one) - isLast(other));

    expect(named.length).toBeGreaterThan(10);
    for (const operation of named) {
      const name = `${operation.method} ${operation.path}`;
      const answer = await send(operation, "two");
      expect([name, answer.status]).toEqual([name, 404]);
      expect([name, (await send(operation, "one")).status < 400]).toEqual([name, true]);
    }
  });

  it("lists and counts nothing of another tenant", async () => {
    const { request, id } = await start();

    expect(await request("two", "GET", `/v1/dead?job=${id}`)).toMatchObject({ status: 404 });
    expect(await request("two", "GET", "/v1/dead")).toMatchObject({ status: 400 });
    expect(await request("two", "POST", "/v1/dead/discard", { job: id })).toMatchObject({ status: 404 });
    expect(await request("two", "GET", `/v1/explain?job=${id}`)).toMatchObject({ status: 404 });
    expect(await request("two", "GET", "/v1/explain?site=a.example")).toMatchObject({ status: 403 });
    const [theirs, own] = await Promise.all(
      ["two", "one"].map((who) => request(who, "GET", "/v1/explain?url=https://a.example/")),
    );
    expect(theirs?.json).toMatchObject({ reasons: ["no job has seen this URL"], tasks: [] });
    expect(own?.json).toMatchObject({ tasks: [{ jobId: id }] });
    expect((await request("two", "GET", "/v1/jobs")).json).toMatchObject({ jobs: [] });
    expect((await request("two", "GET", "/v1/schedules")).json).toMatchObject({ schedules: [] });
    expect((await request("one", "GET", "/v1/schedules")).json.schedules).toHaveLength(1);
    expect((await request("operator", "GET", "/v1/jobs")).json.jobs).toHaveLength(1);
  });
});

async function start() {
  const { trawl, url, newCaller } = await startKeyedApi();
  const keys: Record<string, string> = { operator: OPERATOR };
  for (const [who, draft] of Object.entries(CALLERS)) keys[who] ??= (await newCaller(draft)).key;
  const request = async (who: string | undefined, method: string, path: string, body?: unknown) => {
    const answer = await fetch(url + path, {
      method,
      headers: {
        ...(who === undefined ? {} : { authorization: `Bearer ${keys[who]}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const isStream = answer.headers.get("content-type")?.startsWith("text/event-stream");
    const isJson = /[/+]json\b/.test(answer.headers.get("content-type") ?? "");
    if (isStream === true) await answer.body?.cancel();
    return { status: answer.status, json: isJson ? ((await answer.json()) as Record<string, unknown>) : {} };
  };

  const webhook = { url: "https://me.example/" };
  const submitted = await request("one", "POST", "/v1/jobs", { urls: ["https://a.example/"], open: true, webhook });
  const id = String(submitted.json.id);
  const ref = await trawl.bodies.put(Buffer.from("x"));
  await trawl.store.write([aPageWrite({ jobId: id, bodyRef: ref, screenshotRef: ref, pdfRef: ref })]);
  const [page] = await trawl.store.readPages(id, 0, 1);
  const job = { urls: ["https://a.example/"] };
  const schedule = String((await request("one", "POST", "/v1/schedules", { every: "1d", job })).json.id);
  const operations = await operationsAt(url);
  const send = ({ method, path, example }: Operation, who: string | undefined) => {
    const own = path.startsWith("/v1/pages") ? String(page?.id) : path.startsWith("/v1/schedules") ? schedule : id;
    return request(who, method, path.replace("{id}", own).replace("{site}", "a.example"), example);
  };
  return { request, send, operations, id };
}

async function operationsAt(url: string): Promise<Operation[]> {
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, Record<string, unknown>>>;
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const { content } = (operation.requestBody ?? {}) as { content?: Record<string, { example?: unknown }> };
      const example = content?.["application/json"]?.example;
      return {
        ...{ method: method.toUpperCase(), path, example },
        scope: String(operation["x-scope"]),
        security: operation.security as unknown[],
      };
    }),
  );
}
