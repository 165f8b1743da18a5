/** A server that requires keys, and callers that have some. */
import { expect } from "vitest";
import { type Answer, type Api, startApi } from "./harness.ts";

/** The operator's key, from the settings. */
export const OPERATOR = "operator-key-0123456789";

export type Person = { key: string; id: string; ask: Api["ask"] };
export type KeyedApi = Api & {
  operator: Api["ask"];
  /** A caller with a new key. */
  person(draft: Record<string, unknown>): Promise<Person>;
};

export async function startKeyedApi(settings: Record<string, unknown> = {}): Promise<KeyedApi> {
  const api = await startApi({ apiKeys: [`operator:${OPERATOR}:admin`], ...settings });
  const operator = asking(api, OPERATOR);
  return {
    ...api,
    operator,
    async person(draft) {
      const { status, json } = await operator("POST", "/v1/keys", {
        name: "caller",
        scopes: ["read", "submit"],
        ...draft,
      });
      expect(status).toBe(201);
      const key = String(json.key);
      return { key, id: String(json.id), ask: asking(api, key) };
    },
  };
}

export function asking({ ask }: Pick<Api, "ask">, key: string): Api["ask"] {
  return (method, path, body, headers = {}): Promise<Answer> =>
    ask(method, path, body, { authorization: `Bearer ${key}`, ...headers });
}
