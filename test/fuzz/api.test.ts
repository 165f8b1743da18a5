/**
 * Sends random requests, valid and invalid by the OpenAPI document. No answer is a 500, and every answer is one that
 * the document declares.
 */
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { ERRORS } from "../../src/errors.ts";
import type { Api } from "../api/harness.ts";
import { OPERATOR, startKeyedApi } from "../api/keyed-api.ts";
import { type Schema, valueFor } from "../api/schema-values.ts";
import { aPageWrite } from "../contracts/store/page-write.ts";
import { findRedisObstacle, startRedis } from "../services/redis.ts";

type Parameter = { name: string; in: "path" | "query"; required: boolean; schema: Schema };
type Content = Record<string, { schema: Schema; example?: Record<string, unknown> }>;
type Operation = {
  parameters: Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
};
/** Replaces every reference by the schema that it names. */
function dereference(part: unknown, components: unknown): unknown {
  const text = JSON.stringify(part, (_, value) => {
    const name = /^#\/components\/schemas\/(\w+)$/.exec(value?.$ref ?? "")?.[1];
    return name === undefined ? value : (components as { schemas: Record<string, Schema> }).schemas[name];
  });
  return JSON.parse(text);
}

/** Existing ids, by the first part of their path. */
type Known = Record<"/v1/jobs" | "/v1/pages" | "/v1/keys" | "/v1/schedules" | "/v1/sites" | "/v1/workers", string[]>;
type Tried = { path: string; init: RequestInit };

const RUNS = 25;
/** Operations that cannot succeed here: no page has a PDF, and no worker fetches. */
const NEVER_SUCCEEDS = ["get /v1/pages/{id}/pdf", "post /v1/scrape"];
const SEED = 20_261_116;

describe("the API, called with random requests", () => {
  it.each(findRedisObstacle("redis-server") === undefined ? ["SQLite", "Redis"] : ["SQLite"])(
    "returns only responses that its description declares, and never 500, on %s",
    async (kind) => {
      const places = kind === "Redis" ? { broker: await redisUrl(), brokerShards: 3 } : {};
      const api = await startKeyedApi({ maxPending: 5_000, graceMs: 1_000, ...places });
      const { json } = await api.request("GET", "/openapi.json");
      const paths = dereference(json.paths, json.components) as Record<string, Record<string, Operation>>;
      const answer: Record<string, number[]> = {};

      for (const [path, methods] of Object.entries(paths)) {
        for (const [method, operation] of Object.entries(methods)) {
          const known = await fill({ ...api, request: api.operator });
          const statuses: number[] = [];
          answer[`${method} ${path}`] = statuses;
          await fc.assert(
            fc.asyncProperty(requests(path, method, operation, known), async ({ path: to, init }) => {
              const headers = { ...(init.headers as Record<string, string>), authorization: `Bearer ${OPERATOR}` };
              const answer = await fetch(api.url + to, { ...init, headers });
              statuses.push(answer.status);
              await expectDeclared(operation, answer);
            }),
            { numRuns: RUNS, seed: SEED, endOnFailure: true },
          );
        }
      }

      // Each operation must succeed at least once: otherwise only its validation was tested.
      const alwaysRefused = Object.entries(answer).filter(([, statuses]) => !statuses.some((status) => status < 300));
      expect(alwaysRefused.map(([operation]) => operation)).toEqual(NEVER_SUCCEEDS);
      expect((await api.request("GET", "/readyz")).status).toBe(200);
    },
  );
});

async function redisUrl(): Promise<string> {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  return server.url;
}

/** Creates objects that requests can find and delete. */
async function fill({ request, trawl }: Api): Promise<Known> {
  const made = async (path: string, body: unknown) => {
    const answers = [await request("POST", path, body), await request("POST", path, body)];
    return answers.map(({ json }) => String(json.id));
  };
  const webhook = { url: "https://me.example/" };
  const jobs = await made("/v1/jobs", { urls: ["https://a.example/"], open: true, webhook });
  const bodyRef = await trawl.bodies.put(Buffer.from("<h1>one</h1>"));
  await trawl.store.write(jobs.map((jobId) => aPageWrite({ jobId, bodyRef, screenshotRef: bodyRef })));
  const workers = await announceWorkers(trawl.frontier);
  const pages = await Promise.all(jobs.map((id) => trawl.store.readPages(id, 0, 1)));
  return {
    "/v1/jobs": jobs,
    "/v1/pages": pages.flat().map(({ id }) => String(id)),
    "/v1/keys": await made("/v1/keys", { name: "caller", scopes: ["read"] }),
    "/v1/schedules": await made("/v1/schedules", { every: "1h", job: { urls: ["https://a.example/"] } }),
    "/v1/sites": ["a.example", "b.example:8080"],
    "/v1/workers": workers,
  };
}

/** Workers that accept commands, and one that does not. */
async function announceWorkers(frontier: Api["trawl"]["frontier"]): Promise<string[]> {
  const usual = { queues: ["fetch"], unknownSpiders: [], version: "1.0.0" };
  const vitals = { concurrency: 1, busy: 0, done: 0, failed: 0, rssBytes: 1, upMs: 1 };
  const commands = ["drain", "drain-all", "recycle"] as const;
  const supervised = { ...vitals, commands, state: "working" as const, supervisor: "host/1/1/1" };
  await frontier.announce({ ...usual, worker: "host/2/2/2", vitals: supervised }, 60_000);
  await frontier.announce({ ...usual, worker: "host/3/3/3", vitals }, 60_000);
  return ["host/1/1/1", "host/2/2/2", "host/2", "host/3"];
}

function requests(path: string, method: string, operation: Operation, known: Known): fc.Arbitrary<Tried> {
  const named = operation.parameters.map((parameter) =>
    fc.tuple(fc.constant(parameter), parameterFor(parameter, path, known)),
  );
  return fc
    .record({ named: fc.tuple(...named), body: bodyFor(path, operation), headers: oddHeaders })
    .map(({ named: parameters, body, headers }) => {
      let to = path;
      const query = new URLSearchParams();
      for (const [{ name, in: place }, value] of parameters) {
        if (value === undefined) continue;
        const text = typeof value === "string" ? value : JSON.stringify(value);
        if (place === "path") to = to.replace(`{${name}}`, encodeURIComponent(Buffer.from(text).toString()));
        else query.set(name, text);
      }
      const type = body === undefined ? {} : { "content-type": body.type };
      const init = { method: method.toUpperCase(), headers: { ...headers, ...type }, ...(body && { body: body.text }) };
      return { path: `${to}${query.size > 0 ? `?${query}` : ""}`, init };
    });
}

const CURSORS = [
  { after: 1 },
  { after: -1 },
  { after: "x" },
  { createdAt: "x" },
  { createdAt: 1e300 },
  { site: 1 },
  null,
  [],
].map((place) => Buffer.from(JSON.stringify(place)).toString("base64url"));

function parameterFor(
  { name, in: place, required, schema }: Parameter,
  path: string,
  known: Known,
): fc.Arbitrary<unknown> {
  const folder = (Object.keys(known) as (keyof Known)[]).find((one) => path.startsWith(one)) ?? "/v1/jobs";
  const own = known[name === "job" ? "/v1/jobs" : folder];
  if (place === "path") return mostly(fc.constantFrom(...own), valueFor(schema).filter(isSegment));
  const found = name === "job" ? [fc.constantFrom(...own)] : name === "cursor" ? [fc.constantFrom(...CURSORS)] : [];
  const value = fc.oneof(valueFor(schema), ...found);
  return required ? value : mostly(fc.constant(undefined), value);
}

/** Other values would change the path. */
function isSegment(value: unknown): boolean {
  return typeof value !== "string" || !["", ".", ".."].includes(value);
}

function mostly(usual: fc.Arbitrary<unknown>, other: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 3, arbitrary: usual }, { weight: 1, arbitrary: other });
}

function bodyFor(path: string, { requestBody }: Operation): fc.Arbitrary<{ type: string; text: string } | undefined> {
  if (requestBody === undefined) return fc.constant(undefined);
  const types = Object.entries(requestBody.content).map(([type, { schema, example }]) =>
    valueFor(schema, example).map((value) => ({ type, text: textOf(path, type, value) })),
  );
  const garbage = fc.string({ maxLength: 30 }).map((text) => ({ type: "application/json", text }));
  const odd = fc
    .constantFrom("text/plain", "application/x-www-form-urlencoded", "x")
    .map((type) => ({ type, text: "{}" }));
  return fc.oneof({ weight: 10, arbitrary: fc.oneof(...types) }, { weight: 1, arbitrary: fc.oneof(garbage, odd) });
}

function textOf(path: string, type: string, value: unknown): string {
  if (type !== "application/json") return String(value);
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  // No worker runs here, so a scrape would only wait.
  return JSON.stringify(path === "/v1/scrape" && isObject ? { ...value, timeoutSeconds: 0.1 } : value);
}

const oddHeaders = fc.record(
  {
    accept: fc.constantFrom("*/*", "text/csv", "application/x-ndjson", "q=;,;", "application/json;q=x"),
    "idempotency-key": fc.constantFrom("one", "two", " ", "x".repeat(300)),
    "last-event-id": fc.constantFrom("x", "0", "-"),
    "x-request-id": fc.constantFrom("mine", "not one", "x".repeat(500)),
  },
  { requiredKeys: [] },
);

const problem = z.looseObject({
  code: z.enum(Object.keys(ERRORS)),
  status: z.int(),
  detail: z.string().min(1),
  fix: z.string().min(1),
  requestId: z.string().min(1),
});

const validators = new Map<Schema, z.ZodType>();

async function expectDeclared({ responses }: Operation, answer: Response): Promise<void> {
  const type = (answer.headers.get("content-type") ?? "").split(";")[0] ?? "";
  const declared = responses[answer.status];
  if (declared === undefined) {
    expect(type).toBe("application/problem+json");
    const body = problem.parse(await answer.json());
    expect(body).toMatchObject({ status: answer.status });
    expect(body.code, JSON.stringify(body)).not.toBe("INTERNAL");
    expect(answer.status).toBeGreaterThanOrEqual(400);
    return;
  }
  const content = declared.content ?? {};
  if (type === "text/event-stream") return void (await answer.body?.cancel());
  const text = await answer.text();
  if (Object.keys(content).length === 0) return expect(text).toBe("");
  expect(
    Object.keys(content).some((each) => each === type || each === "*/*"),
    `${type} is not declared`,
  ).toBe(true);
  const schema = content[type]?.schema;
  if (type !== "application/json" || schema === undefined) return;
  const validator = validators.get(schema) ?? z.fromJSONSchema(schema as never);
  validators.set(schema, validator);
  validator.parse(JSON.parse(text));
}
