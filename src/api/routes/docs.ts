/** The documentation of the API: OpenAPI document, reference page and error page. */
import { z } from "zod";
import { docsPage, errorsPage, type Page } from "../docs-page.ts";
import { describeApi, type OpenApi } from "../openapi.ts";
import { once } from "../response-stream.ts";
import { type Answer, defineRoute, type Route } from "../route.ts";

type Rendered = { document: OpenApi; page: Page };

/** Describes the other routes, and itself. */
export function docsRoutes(others: readonly Route[]): Route[] {
  const routes: Route[] = [
    defineRoute({
      method: "GET",
      path: "/openapi.json",
      scope: "open",
      tag: "Docs",
      summary: "This API as OpenAPI 3.1",
      answers: { 200: { says: "The document.", json: z.looseObject({ openapi: z.string() }) } },
      handle: async () => ({ status: 200, body: described().document }),
    }),
    defineRoute({
      method: "GET",
      path: "/docs",
      scope: "open",
      tag: "Docs",
      summary: "The API reference as a page",
      answers: { 200: { says: "The page.", types: ["text/html"] } },
      handle: async () => shown(described().page),
    }),
    defineRoute({
      method: "GET",
      path: "/docs/errors",
      scope: "open",
      tag: "Docs",
      summary: "All error codes and their fixes",
      answers: { 200: { says: "The page.", types: ["text/html"] } },
      handle: async () => shown(errorsPage()),
    }),
  ];
  let known: Rendered | undefined;
  /** Rendered on first use: rendering takes longer than the server start. */
  function described(): Rendered {
    const document = known?.document ?? describeApi([...others, ...routes]);
    known ??= { document, page: docsPage(document) };
    return known;
  }
  return routes;
}

function shown({ html, policy }: Page): Answer {
  const headers = { "content-security-policy": policy };
  return { status: 200, type: "text/html; charset=utf-8", stream: once(html), headers };
}
