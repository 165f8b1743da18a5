/** A server that requires keys, and callers that have some. */
import { expect } from "vitest";
import { type Answer, type Api, startApi } from "./harness.ts";

/** The operator's key, from the settings. */
export const OPERATOR = "operator-key-0123456789";

export type Caller = { key: string; id: string; request: Api["request"] };
export type KeyedApi = Api & {
  operator: Api["request"];
  /** A caller with a new key. */
  newCaller(draft: Record<string, unknown>): Promise<Caller>;
};

export async function startKeyedApi(settings: Record<string, unknown> = {}): Promise<KeyedApi> {
  const api = await startApi({ apiKeys: [`operator:${OPERATOR}:admin`], ...settings });
  const operator = requestWithKey(api, OPERATOR);
  return {
    ...api,
    operator,
    async newCaller(draft) {
      const { status, json } = await operator("POST", "/v1/keys", {
        name: "caller",
        scopes: ["read", "submit"],
        ...draft,
      });
      expect(status).toBe(201);
      const key = String(json.key);
      return { key, id: String(json.id), request: requestWithKey(api, key) };
    },
  };
}

export function requestWithKey({ request }: Pick<Api, "request">, key: string): Api["request"] {
  return (method, path, body, headers = {}): Promise<Answer> =>
    request(method, path, body, { authorization: `Bearer ${key}`, ...headers });
}
