/** One page that a job has brought. */
import type { OnePageOut, ReadingOut } from "../api/wire-types.ts";
import type { JobInput } from "../submit/job-schema.ts";
import type { Signal } from "./listing.ts";
import type { Requests } from "./requests.ts";

export type Page = {
  readonly id: number;
  /** What is known of it, and its first records. */
  look(options?: Signal): Promise<OnePageOut>;
  /** As it was kept: its bytes are other people's. Throws ApiError NOT_FOUND where it was not. */
  part(name: "body" | "screenshot" | "pdf", options?: Signal): Promise<Response>;
  /** What rules would make of it. Its body has to be kept; nothing is fetched, and nothing changed. */
  extract(rules: { extract?: JobInput["extract"]; links?: string }, options?: Signal): Promise<ReadingOut>;
};

export function createPage(requests: Requests, id: number): Page {
  const path = `/v1/pages/${id}`;
  return {
    id,
    look: ({ signal } = {}) => requests.json(path, { signal }),
    part: (name, { signal } = {}) => requests.raw(`${path}/${name}`, { signal }),
    extract: (body, { signal } = {}) => requests.json(`${path}/extract`, { method: "POST", body, signal }),
  };
}
