/** The API's description of itself. */
import { z } from "zod";
import { docsPage } from "../docs-page.ts";
import { describeApi } from "../openapi.ts";
import { defineRoute, type Route } from "../route.ts";

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
      handle: async () => ({ status: 200, body: document }),
    }),
    defineRoute({
      method: "GET",
      path: "/docs",
      scope: "open",
      tag: "Docs",
      summary: "The same to read",
      answers: { 200: { says: "A page.", type: "text/html" } },
      handle: async () => ({
        status: 200,
        type: "text/html; charset=utf-8",
        stream: once(page.html),
        headers: { "content-security-policy": page.policy },
      }),
    }),
  ];
  const document = describeApi([...others, ...routes]);
  const page = docsPage(document);
  return routes;
}

async function* once(text: string): AsyncGenerator<string> {
  yield text;
}
