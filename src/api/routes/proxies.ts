/** Proxies. All tenants share them, so the route requires the scope admin. */
import type { ApiDeps } from "../api-deps.ts";
import { type ApiRoute, defineRoute } from "../route.ts";
import { proxiesSchemaOut } from "../wire/proxies.ts";

export function proxyRoutes({ readProxies }: Pick<ApiDeps, "readProxies">): ApiRoute[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/proxies",
      scope: "admin",
      tag: "Fleet",
      summary: "Show success, response time and cost of the proxies",
      responses: { 200: { description: "By proxy, and by provider and site.", json: proxiesSchemaOut } },
      handle: async () => ({ status: 200, body: await readProxies() }),
    }),
  ];
}
