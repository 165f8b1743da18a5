/** Generates the OpenAPI 3.1 document from the routes. */
import { z } from "zod";
import { authSchema } from "../submit/auth-schema.ts";
import { browserSchema } from "../submit/browser-schema.ts";
import { jobSchema, politenessSchema } from "../submit/job-schema.ts";
import { proxySchema } from "../submit/proxy-schema.ts";
import { loginSchema } from "../submit/session-schema.ts";
import { entrySchema } from "../submit/url-entry.ts";
import { webhookSchema } from "../submit/webhook-schema.ts";
import { VERSION } from "../version.ts";
import type { ApiRoute, ResponseShape } from "./route.ts";
import { deadGroupSchemaOut, deadReason, deadSchemaOut } from "./wire/dead.ts";
import { jobSchemaOut } from "./wire/jobs.ts";
import { keySchemaOut } from "./wire/keys.ts";
import { pageSchemaOut } from "./wire/results.ts";
import { scheduleSchemaOut } from "./wire/schedules.ts";
import { timelineSchemaOut } from "./wire/trace.ts";

export type OpenApi = {
  openapi: string;
  paths: Record<string, Record<string, unknown>>;
  components: { schemas: Record<string, object>; [key: string]: unknown };
  [key: string]: unknown;
};

/** Shared schemas, by their name in the document. */
const NAMED: Readonly<Record<string, z.ZodType>> = {
  NewJob: jobSchema,
  // Parts of a job that other requests also have.
  Auth: authSchema,
  Browser: browserSchema,
  Extract: jobSchema.shape.extract.unwrap(),
  Login: loginSchema,
  Politeness: politenessSchema,
  ProxyRules: proxySchema,
  Webhook: webhookSchema,
  Url: entrySchema,
  Job: jobSchemaOut,
  Page: pageSchemaOut,
  DeadLetter: deadSchemaOut,
  DeadGroup: deadGroupSchemaOut,
  DeadReason: deadReason,
  Schedule: scheduleSchemaOut,
  Key: keySchemaOut,
  Timeline: timelineSchemaOut,
};

/** Errors are problem+json, RFC 9457. */
const problemSchema = z.looseObject({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.string().describe("An error code from docs/errors.md. Programs should branch on it."),
  fix: z.string(),
  requestId: z.string(),
});

type JsonSchema = Record<string, unknown>;
type ShapeOf = (schema: z.ZodType, io: "input" | "output") => JsonSchema;

export function describeApi(all: readonly ApiRoute[]): OpenApi {
  const routes = all.filter(({ isHidden }) => isHidden !== true);
  const paths: OpenApi["paths"] = {};
  const { shapeOf, shared } = createShapes();
  shared.Problem = shapeOf(problemSchema, "output");
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, shapeOf) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Trawl",
      version: VERSION,
      description: "Submit jobs, follow their progress, read their results, and find out why a URL waits.",
    },
    // Relative to the URL of the document, so that it is correct behind any path prefix.
    servers: [{ url: "." }],
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: shared,
      responses: {
        Error: {
          description: "An error.",
          content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
        },
      },
      securitySchemes: { key: { type: "http", scheme: "bearer", description: "An API key: `trawl keys add`." } },
    },
  };
}

function operation(route: ApiRoute, shapeOf: ShapeOf): Record<string, unknown> {
  const { tag, summary, description, scope, responses } = route;
  return {
    operationId: nameOf(route),
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    "x-scope": scope,
    security: scope === "open" ? [] : [{ key: [scope] }],
    parameters: [...parametersIn("path", route.params, shapeOf), ...parametersIn("query", route.query, shapeOf)],
    ...(route.body === undefined ? {} : { requestBody: requestBody(route, shapeOf) }),
    responses: {
      ...Object.fromEntries(Object.entries(responses).map(([status, shape]) => [status, responseOf(shape, shapeOf)])),
      default: { $ref: "#/components/responses/Error" },
    },
  };
}

/** The operation id: `getJobsIdRecords` for `GET /v1/jobs/:id/records`. */
function nameOf({ method, path }: ApiRoute): string {
  const parts = path
    .replace(/^\/v1/, "")
    .split(/[/:.]+/)
    .filter((part) => part !== "");
  return method.toLowerCase() + parts.map((part) => part.charAt(0).toUpperCase() + part.slice(1)).join("");
}

function parametersIn(
  place: "path" | "query",
  schema: z.ZodObject | undefined,
  shapeOf: ShapeOf,
): Record<string, unknown>[] {
  if (schema === undefined) return [];
  return Object.entries(schema.shape).map(([name, field]) => {
    const { description, ...rest } = shapeOf(field as z.ZodType, "input");
    const isRequired = place === "path" || !(field as z.ZodType).safeParse(undefined).success;
    return { name, in: place, required: isRequired, ...(description ? { description } : {}), schema: rest };
  });
}

function requestBody({ body, streams = [], example }: ApiRoute, shapeOf: ShapeOf): Record<string, unknown> {
  const json = { schema: shapeOf(body as z.ZodType, "input"), ...(example === undefined ? {} : { example }) };
  const streamed = streams.map((type) => [type, { schema: { type: "string" } }]);
  return { required: true, content: { "application/json": json, ...Object.fromEntries(streamed) } };
}

function responseOf({ description, json, types = [] }: ResponseShape, shapeOf: ShapeOf): Record<string, unknown> {
  if (json === undefined && types.length === 0) return { description };
  const content = {
    ...(json === undefined ? {} : { "application/json": { schema: shapeOf(json, "output") } }),
    ...Object.fromEntries(types.map((type) => [type, { schema: { type: "string" } }])),
  };
  return { description, content };
}

/**
 * Named schemas are defined once and referenced. If they were repeated, the job schema alone would fill the document.
 */
function createShapes(): { shapeOf: ShapeOf; shared: Record<string, JsonSchema> } {
  const shared: Record<string, JsonSchema> = {};
  for (const [id, schema] of Object.entries(NAMED)) z.globalRegistry.add(schema, { ...schema.meta(), id });
  function shapeOf(schema: z.ZodType, io: "input" | "output"): JsonSchema {
    const shape = z.toJSONSchema(schema, { io, unrepresentable: "any", reused: "inline", override: withoutNoise });
    const { $schema, $defs = {}, id, ...rest } = referring(shape);
    for (const [name, { id: _, ...named }] of Object.entries($defs)) shared[name] ??= named;
    if (id === undefined) return rest;
    shared[id] ??= rest;
    return { $ref: `#/components/schemas/${id}` };
  }
  return { shapeOf, shared };
}

/** Removes the pattern of instants, which is long and occurs hundreds of times, and the bounds of safe integers. */
function withoutNoise({ jsonSchema }: { jsonSchema: JsonSchema }): void {
  if (jsonSchema.format === "date-time") delete jsonSchema.pattern;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
}

type Shape = JsonSchema & { id?: string; $defs?: Record<string, JsonSchema> };

/** Changes references to the component paths of the document. */
function referring(shape: object): Shape {
  return JSON.parse(JSON.stringify(shape).replaceAll('"$ref":"#/$defs/', '"$ref":"#/components/schemas/'));
}
