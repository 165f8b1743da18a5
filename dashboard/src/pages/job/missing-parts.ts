import type { WrittenJobOut } from "../../../../src/client/wire-types.ts";
import { plural } from "../../ui/format.ts";

const NAME_MAX = 100;

/**
 * Describes the parts that a stored job definition does not contain. `submitted`: the number of submitted URLs, if
 * known.
 */
export function missingPartsText({ job, missing }: WrittenJobOut, submitted: number | undefined): string[] {
  const others = missing.filter((name) => name !== "urls").map((name) => name.slice(0, NAME_MAX));
  return [
    ...(missing.includes("urls") ? [urlsText(job.urls?.length ?? 0, submitted)] : []),
    ...(others.length === 0
      ? []
      : [`The definition does not contain these secrets, so enter them again: ${others.join(", ")}.`]),
  ];
}

function urlsText(stored: number, submitted: number | undefined): string {
  const urls = stored === 0 ? "The start URLs" : "More start URLs";
  const list = submitted === undefined ? "a list" : `a list of ${plural(submitted - stored, "URL")}`;
  return `${urls} were submitted as ${list}. The definition does not contain this list, so enter the URLs again.`;
}
