/** The API in OpenAPI 3.1, made from its routes. */
import { z } from "zod";
import { VERSION } from "../version.ts";
import type { AnswerShape, Route } from "./route.ts";
import { problemSchema } from "./wire-types.ts";

export type OpenApi = { openapi: string; paths: Record<string, Record<string, unknown>>; [key: string]: unknown };

export function describeApi(routes: readonly Route[]): OpenApi {
  const paths: OpenApi["paths"] = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Trawl",
      version: VERSION,
      description: "Submit jobs, follow them, read what they brought, and see why something waits.",
    },
    // Relative: wherever the document was read from, behind whatever prefix.
    servers: [{ url: "." }],
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: { Problem: jsonSchema(problemSchema, "output") },
      securitySchemes: { key: { type: "http", scheme: "bearer", description: "An API key: `trawl keys add`." } },
    },
  };
}

function operation(route: Route): Record<string, unknown> {
  const { tag, summary, says, scope, answers } = route;
  return {
    operationId: nameOf(route),
    tags: [tag],
    summary,
    ...(says === undefined ? {} : { description: says }),
    "x-scope": scope,
    security: scope === "open" ? [] : [{ key: [scope] }],
    parameters: [...parametersIn("path", route.params), ...parametersIn("query", route.query)],
    ...(route.body === undefined ? {} : { requestBody: requestBody(route) }),
    responses: {
      ...Object.fromEntries(Object.entries(answers).map(([status, shape]) => [status, responseOf(shape)])),
      default: { description: "What went wrong.", content: PROBLEM },
    },
  };
}

const PROBLEM = { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } };

/** `GET /v1/jobs/:id/records` is `getJobsIdRecords`. */
function nameOf({ method, path }: Route): string {
  const words = path
    .replace(/^\/v1/, "")
    .split(/[/:.]+/)
    .filter((word) => word !== "");
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}

function parametersIn(place: "path" | "query", schema: z.ZodObject | undefined): Record<string, unknown>[] {
  if (schema === undefined) return [];
  return Object.entries(schema.shape).map(([name, field]) => {
    const { description, ...rest } = jsonSchema(field as z.ZodType, "input");
    const isRequired = place === "path" || !(field as z.ZodType).safeParse(undefined).success;
    return { name, in: place, required: isRequired, ...(description ? { description } : {}), schema: rest };
  });
}

function requestBody({ body, streams = [], example }: Route): Record<string, unknown> {
  const json = { schema: jsonSchema(body as z.ZodType, "input"), ...(example === undefined ? {} : { example }) };
  const streamed = streams.map((type) => [type, { schema: { type: "string" } }]);
  return { required: true, content: { "application/json": json, ...Object.fromEntries(streamed) } };
}

function responseOf({ says, json, types = [] }: AnswerShape): Record<string, unknown> {
  if (json === undefined && types.length === 0) return { description: says };
  const content = {
    ...(json === undefined ? {} : { "application/json": { schema: jsonSchema(json, "output") } }),
    ...Object.fromEntries(types.map((type) => [type, { schema: { type: "string" } }])),
  };
  return { description: says, content };
}

function jsonSchema(schema: z.ZodType, io: "input" | "output"): Record<string, unknown> {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any", reused: "inline" });
  return rest as Record<string, unknown>;
}
