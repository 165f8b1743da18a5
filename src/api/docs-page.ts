/** The OpenAPI document as one HTML page, without scripts and external resources. */
import { hash } from "node:crypto";
import { ERRORS } from "../errors.ts";
import type { OpenApi } from "./openapi.ts";

type Operation = {
  tags: readonly string[];
  summary: string;
  description?: string;
  "x-scope": string;
  parameters: readonly { name: string; in: string; required: boolean; description?: string; schema: object }[];
  requestBody?: { content: Record<string, { schema: object; example?: unknown }> };
  /** `default` is the same error for all operations. The page describes it once. */
  responses: Record<string, { description: string; content?: Record<string, { schema: object }> }>;
};

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --quiet: #777; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 56rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
details { border: 1px solid var(--line); border-radius: 6px; margin: .5rem 0; padding: 0 .8rem; }
summary { cursor: pointer; padding: .5rem 0; }
summary b { display: inline-block; min-width: 4.2rem; font-family: ui-monospace, monospace; }
summary code { font-weight: 600; overflow-wrap: anywhere; }
summary span { color: var(--quiet); display: block; margin-left: 4.2rem; }
pre { background: var(--soft); padding: .6rem .8rem; overflow-x: auto; font-size: .85rem; border-radius: 4px; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; padding: .2rem .8rem .2rem 0; vertical-align: top; }
td code { overflow-wrap: anywhere; } dd { margin: 0 0 1rem 1.5rem; }
em { color: var(--quiet); }`;

export type DocsPage = { html: string; policy: string };

export function docsPage(document: OpenApi): DocsPage {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation: operation as Operation })),
  );
  const tags = [...new Set(operations.flatMap(({ operation }) => operation.tags))];
  const parts = tags.map((tag) => {
    const own = operations.filter(({ operation }) => operation.tags.includes(tag));
    return `<h2>${escaped(tag)}</h2>${own.map(sectionOf).join("")}`;
  });
  const shapes = Object.entries(document.components.schemas).map(([name, schema]) => shapeOf(name, schema));
  return page(`<h1>Trawl API</h1><p>Every response has an <code>X-Request-Id</code> header. Logs and <code>/v1/trace</code> contain this id.
Errors are <code>application/problem+json</code> (<a href="#Problem">Problem</a>): branch on their <code>code</code>, one of the
<a href="docs/errors">error codes</a>. Programs can read the same reference as <a href="openapi.json">openapi.json</a>.</p>
${parts.join("")}<h2>Schemas</h2>${shapes.join("")}`);
}

/** The page that the `type` of a problem links to. */
export function errorsPage(): DocsPage {
  const rows = Object.entries(ERRORS).map(
    ([code, { means, fix }]) =>
      `<dt id="${code.toLowerCase()}"><code>${code}</code><dd>${escaped(means)}<br><em>${escaped(fix)}</em>`,
  );
  return page(`<h1>Trawl error codes</h1><p><a href="../docs">API reference</a></p><dl>${rows.join("")}</dl>`);
}

function page(content: string): DocsPage {
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Trawl API</title>
<meta name="viewport" content="width=device-width"><style>${STYLE}</style></head><body>
${content}</body></html>`;
  const policy = `default-src 'none'; style-src 'sha256-${hash("sha256", STYLE, "base64")}'; frame-ancestors 'none'`;
  return { html, policy };
}

function sectionOf({ path, method, operation }: { path: string; method: string; operation: Operation }): string {
  const { summary, description = "", requestBody, parameters, responses } = operation;
  const scope = operation["x-scope"];
  const needs = scope === "open" ? "Requires no key." : `Requires a key with the scope ${scope}.`;
  return `<details><summary><b>${method.toUpperCase()}</b> <code>${escaped(path)}</code><span>${escaped(summary)}</span></summary>
<p>${escaped(description)} <em>${needs}</em></p>${parametersTable(parameters)}${bodyOf(requestBody)}${responsesOf(responses)}</details>`;
}

function parametersTable(parameters: Operation["parameters"]): string {
  if (parameters.length === 0) return "";
  const rows = parameters.map(({ name, in: place, required, description = "", schema }) => {
    const takes = `${escaped(description)} <code>${escaped(JSON.stringify(schema))}</code>`;
    return `<tr><td><code>${escaped(name)}</code><td>${place}${required ? "" : ", optional"}<td>${takes}</tr>`;
  });
  return `<table>${rows.join("")}</table>`;
}

function bodyOf(body: Operation["requestBody"]): string {
  return Object.entries(body?.content ?? {})
    .map(([type, { schema, example }]) => {
      const shown = example === undefined ? "" : `<pre>${escaped(JSON.stringify(example, null, 2))}</pre>`;
      return `<p>Body: <code>${escaped(type)}</code></p>${shown}${schemaOf(schema)}`;
    })
    .join("");
}

function responsesOf(responses: Operation["responses"]): string {
  return Object.entries(responses)
    .filter(([status]) => status !== "default")
    .map(([status, { description, content = {} }]) => {
      const shapes = Object.entries(content).map(
        ([type, { schema }]) => `<code>${escaped(type)}</code>${schemaOf(schema)}`,
      );
      return `<p><b>${escaped(status)}</b> ${escaped(description)} ${shapes.join(" ")}</p>`;
    })
    .join("");
}

function schemaOf(schema: object): string {
  const { $ref } = schema as { $ref?: string };
  if ($ref !== undefined) return ` ${linked(escaped($ref))}`;
  return `<details><summary><em>schema</em></summary>${shown(schema)}</details>`;
}

function shapeOf(name: string, schema: object): string {
  return `<details><summary><b>${escaped(name)}</b></summary><div id="${encodeURIComponent(name)}">${shown(schema)}</div></details>`;
}

function shown(schema: object): string {
  return `<pre>${linked(escaped(JSON.stringify(schema, null, 2)))}</pre>`;
}

/** Links to schemas, which are on the same page. Browsers open the details element that a link points into. */
function linked(text: string): string {
  return text.replace(/#\/components\/schemas\/(\w+)/g, '<a href="#$1">$1</a>');
}

/** Escapes text between tags. Quotes are safe there; escaping those of all schemas would add a third to the page. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
