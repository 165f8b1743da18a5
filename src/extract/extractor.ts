/** The contract of extraction: a decoded page in, records and links out. */
import type { Fields, Page } from "../domain/page.ts";

export type ExtractInput = { page: Page; html: string };

export type Link = { href: string /** Text inside the link, trimmed, may be empty. */; text: string };

export type Extraction = {
  records: readonly Fields[];
  /** Records that lack a required field, with the reason. */
  invalid: readonly { fields: Fields; reason: string }[];
  /** Absolute URLs as found, resolved against `<base>`; not yet canonical, scoped or deduplicated. */
  links: readonly string[];
};

export type Extractor = (input: ExtractInput) => Extraction;
