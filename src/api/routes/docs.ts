/** The API's description of itself. */
import { z } from "zod";
import { docsPage, errorsPage, type Page } from "../docs-page.ts";
import { describeApi, type OpenApi } from "../openapi.ts";
import { type Answer, defineRoute, type Route } from "../route.ts";

type Described = { document: OpenApi; page: Page };

/** Made of the other routes, and of itself. */
export function docsRoutes(others: readonly Route[]): Route[] {
  const routes: Route[] = [
    defineRoute({
      method: "GET",
      path: "/openapi.json",
      scope: "open",
      tag: "Docs",
      summary: "This API, as OpenAPI 3.1",
      answers: { 200: { says: "The document.", json: z.looseObject({ openapi: z.string() }) } },
      handle: async () => ({ status: 200, body: described().document }),
    }),
    defineRoute({
      method: "GET",
      path: "/docs",
      scope: "open",
      tag: "Docs",
      summary: "The same to read",
      answers: { 200: { says: "A page.", types: ["text/html"] } },
      handle: async () => shown(described().page),
    }),
    defineRoute({
      method: "GET",
      path: "/docs/errors",
      scope: "open",
      tag: "Docs",
      summary: "What goes wrong, by its code, and what to do about it",
      answers: { 200: { says: "A page.", types: ["text/html"] } },
      handle: async () => shown(errorsPage()),
    }),
  ];
  let known: Described | undefined;
  /** When first asked for: it takes longer than the server takes to start. */
  function described(): Described {
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

async function* once(text: string): AsyncGenerator<string> {
  yield text;
}
