import type { Page } from "../../domain/page.ts";
import type { BodySettings } from "../../domain/request.ts";

/** Storage of page bodies, separate from the rows that describe them. */
export interface Bodies {
  /** Stores a body and returns its reference once the body is durable. Returns undefined if bodies are not stored. */
  put(body: Buffer): Promise<string | undefined>;
  /** The body of a reference; undefined if it does not exist. */
  get(ref: string): Promise<Buffer | undefined>;
  /**
   * Removes a body that was last stored before `putBefore`. A body that was stored later is kept, because the page that
   * refers to it may not be written yet. Storing an existing body again updates its time. Returns false if the body is
   * kept.
   */
  remove(ref: string, putBefore: number): Promise<boolean>;
}

/** Large bodies of requests. Each belongs to one job, and is removed together with the job. */
export interface RequestBodies {
  readonly settings: BodySettings;
  /** Stores a body and returns its reference once the body is durable. Equal bodies of a job are stored once. */
  put(jobId: string, body: string): Promise<string>;
  /** The body of a reference; undefined if it is missing. It may be in the TRAWL_BODIES of another worker. */
  find(jobId: string, ref: string): Promise<string | undefined>;
  /** Removes all bodies of a job. */
  removeAll(jobId: string): Promise<void>;
}

/** A spooled page is named by the task that fetched it. */
export type SpooledPageName = { jobId: string; taskId: string };

/** A page with its body, stored until a parse worker reads it. */
export type SpooledPage = { page: Page; body: Buffer };

export interface PageSpool {
  /** Resolves once the page is durable. Replaces the page that an earlier attempt of the same task stored. */
  put(name: SpooledPageName, spooled: SpooledPage): Promise<void>;
  /** Reads a page. `damaged`: its bytes cannot be decoded. `missing`: it may be in the spool of another worker. */
  get(name: SpooledPageName): Promise<SpooledPage | "missing" | "damaged">;
  /** Removing a page that does not exist has no effect. */
  remove(name: SpooledPageName): Promise<void>;
}
