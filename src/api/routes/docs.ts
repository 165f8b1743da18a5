/** The documentation of the API: OpenAPI document, reference page and error page. */
import { z } from "zod";
import { type DocsPage, docsPage, errorsPage } from "../docs-page.ts";
import { describeApi, type OpenApi } from "../openapi.ts";
import { once } from "../response-stream.ts";
import { type ApiResponse, type ApiRoute, defineRoute } from "../route.ts";

type Rendered = { document: OpenApi; page: DocsPage };

/** `others`: all other routes. The documentation also describes its own routes. */
export function docsRoutes(others: readonly ApiRoute[]): ApiRoute[] {
  const routes: ApiRoute[] = [
    defineRoute({
      method: "GET",
      path: "/openapi.json",
      scope: "open",
      tag: "Docs",
      summary: "This API as OpenAPI 3.1",
      responses: { 200: { description: "The document.", json: z.looseObject({ openapi: z.string() }) } },
      handle: async () => ({ status: 200, body: described().document }),
    }),
    defineRoute({
      method: "GET",
      path: "/docs",
      scope: "open",
      tag: "Docs",
      summary: "The API reference as a page",
      responses: { 200: { description: "The page.", types: ["text/html"] } },
      handle: async () => htmlResponse(described().page),
    }),
    defineRoute({
      method: "GET",
      path: "/docs/errors",
      scope: "open",
      tag: "Docs",
      summary: "All error codes and their fixes",
      responses: { 200: { description: "The page.", types: ["text/html"] } },
      handle: async () => htmlResponse(errorsPage()),
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

function htmlResponse({ html, policy }: DocsPage): ApiResponse {
  const headers = { "content-security-policy": policy };
  return { status: 200, type: "text/html; charset=utf-8", stream: once(html), headers };
}
