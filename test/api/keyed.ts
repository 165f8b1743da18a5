/** A control plane that asks for keys, and people who have some. */
import { expect } from "vitest";
import { type Api, type Heard, startApi } from "./harness.ts";

/** Of the settings: the operator's. */
export const OPERATOR = "operator-key-0123456789";

export type Person = { key: string; id: string; ask: Api["ask"] };
export type KeyedApi = Api & {
  operator: Api["ask"];
  /** Somebody with a key like this. */
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
        name: "somebody",
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
  return (method, path, body, headers = {}): Promise<Heard> =>
    ask(method, path, body, { authorization: `Bearer ${key}`, ...headers });
}
