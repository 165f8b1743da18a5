/** One page of a job. */

import type { JobInput } from "../submit/job-schema.ts";
import type { Signal } from "./listing.ts";
import type { Requests } from "./requests.ts";
import type { ExtractionPreviewOut, OnePageOut } from "./wire-types.ts";

export type Page = {
  readonly id: number;
  /** The page and its first records. */
  look(options?: Signal): Promise<OnePageOut>;
  /** The stored file. Its content is untrusted. Throws ApiError NOT_FOUND if it was not stored. */
  part(name: "body" | "screenshot" | "pdf", options?: Signal): Promise<Response>;
  /** Previews extraction rules on the stored body. Fetches and changes nothing. */
  extract(rules: { extract?: JobInput["extract"]; links?: string }, options?: Signal): Promise<ExtractionPreviewOut>;
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
