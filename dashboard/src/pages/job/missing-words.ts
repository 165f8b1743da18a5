import type { WrittenJobOut } from "../../../../src/api/wire-types.ts";
import { count } from "../../ui/format.ts";

const NAME_MOST = 100;

/** What is not in a job as it was written, in words. `submitted`: how many URLs it was given, where that is known. */
export function missingWords({ job, missing }: WrittenJobOut, submitted: number | undefined): string[] {
  const others = missing.filter((name) => name !== "urls").map((name) => name.slice(0, NAME_MOST));
  return [
    ...(missing.includes("urls") ? [urlWords(job.urls?.length ?? 0, submitted)] : []),
    ...(others.length === 0 ? [] : [`Not shown, and to be given anew: ${others.join(", ")}.`]),
  ];
}

function urlWords(kept: number, submitted: number | undefined): string {
  const whose = kept === 0 ? "Its start URLs" : "More start URLs";
  const list = submitted === undefined ? "a list" : `a list of ${count(submitted - kept)}`;
  return `${whose} came as ${list}, which is not kept with the definition: give them anew.`;
}
