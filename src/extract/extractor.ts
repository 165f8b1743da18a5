/** The contract of extractors: a decoded page in, records and links out. */
import type { Fields, Page } from "../domain/page.ts";

export type ExtractInput = { page: Page; html: string };

export type Extraction = {
  records: readonly Fields[];
  /** Records without a required field, with the reason. */
  invalid: readonly { fields: Fields; reason: string }[];
  /** Resolved against `<base>`, canonical, unique, in order. The link scope is not applied yet. */
  links: readonly string[];
  /** The canonical URL to which a refresh of the page redirects. */
  refresh?: string;
};

/** Never throws. */
export type Extractor = (input: ExtractInput) => Extraction;
