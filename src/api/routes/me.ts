/** Who asks: for programs that show only what their key allows. */
import { VERSION } from "../../version.ts";
import { defineRoute, type Route } from "../route.ts";
import { meSchemaOut } from "../wire-keys.ts";

export function meRoutes(): Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/me",
      scope: "read",
      tag: "Keys",
      summary: "Whose key this is, and what it may do",
      answers: { 200: { says: "Of the key that came with the request.", json: meSchemaOut } },
      async handle({ caller: { tenant = null, keyId = null, scopes } }) {
        return { status: 200, body: { tenant, keyId, scopes, version: VERSION } };
      },
    }),
  ];
}
