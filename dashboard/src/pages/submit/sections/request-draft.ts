/** One request with a method, headers and a body, as form fields. */
import type { JobInput } from "../../../../../src/client/client.ts";
import { type Pairs, pairsIn, pairsProblem } from "./pairs.ts";

type UrlEntry = NonNullable<JobInput["urls"]>[number];
type Request = Exclude<UrlEntry, string>;

export type RequestDraft = {
  url: string;
  /** Empty: GET, or POST with a body. */
  method: string;
  bodyKind: "none" | "json" | "form" | "body";
  /** JSON, or lines of `name: value`, or text. */
  bodyText: string;
  headers: Pairs;
};

export const NO_REQUEST: RequestDraft = { url: "", method: "", bodyKind: "none", bodyText: "", headers: {} };

/** The entry of the start URLs. A GET without headers is a plain URL. */
export function entryOf(draft: RequestDraft): UrlEntry {
  const { url, method, headers } = draft;
  const request: Request = {
    url: url.trim(),
    ...(method === "" ? {} : { method: method as NonNullable<Request["method"]> }),
    ...bodyOf(draft),
    ...(Object.keys(headers).length === 0 ? {} : { headers: { ...headers } }),
  };
  return Object.keys(request).length === 1 ? request.url : request;
}

/** Why the body cannot be used. */
export function bodyProblem({ bodyKind, bodyText }: RequestDraft): string | undefined {
  if (bodyKind === "form") return pairsProblem(bodyText);
  if (bodyKind !== "json") return undefined;
  try {
    JSON.parse(bodyText);
    return undefined;
  } catch (error) {
    return `This is not valid JSON: ${(error as Error).message}`;
  }
}

function bodyOf({ bodyKind, bodyText }: RequestDraft): Partial<Request> {
  if (bodyKind === "none") return {};
  if (bodyKind === "json") return { json: JSON.parse(bodyText) };
  return bodyKind === "form" ? { form: pairsIn(bodyText) } : { body: bodyText };
}
