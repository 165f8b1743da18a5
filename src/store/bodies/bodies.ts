import type { Page } from "../../domain/page.ts";

/** Where the bodies of pages are kept, apart from the rows that describe them. */
export interface Bodies {
  /** Keeps a body and answers with its reference, once it survives a power cut; undefined where none are kept. */
  put(body: Buffer): Promise<string | undefined>;
  /** The body of a reference; undefined if nothing is kept under it. */
  get(ref: string): Promise<Buffer | undefined>;
  /**
   * Removes a body that nobody has put since that instant: whoever has may be about to refer to it, and putting what is
   * there already counts. False where it stays.
   */
  remove(ref: string, putBefore: number): Promise<boolean>;
}

/** The task that fetched the page. */
export type ParcelName = { jobId: string; taskId: string };

/** A page with its body, on its way from the worker that fetched it to the one that parses it. */
export type Parcel = { page: Page; body: Buffer };

export interface Parcels {
  /** Resolves once it survives a power cut. What was under the name is replaced: its task has run again. */
  put(name: ParcelName, parcel: Parcel): Promise<void>;
  /** One that is damaged is never whole again; one that is missing may be elsewhere. */
  get(name: ParcelName): Promise<Parcel | "missing" | "damaged">;
  /** Removing what is not there is harmless. */
  remove(name: ParcelName): Promise<void>;
}
