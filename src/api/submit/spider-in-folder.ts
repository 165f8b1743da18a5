/**
 * Workers run the code of a spider. Whoever may submit over HTTP may so have them run what an operator has put into one
 * folder (apiSpiders), and nothing else that happens to be on their disks.
 */
import { realpathSync, statSync } from "node:fs";
import { relative, resolve, sep } from "node:path";
import { TrawlError } from "../../errors.ts";

/** Parts of letters, digits, _ - and dots, none of which begins with a dot: no way leads up or elsewhere. */
const NAME = /^[A-Za-z0-9_-][A-Za-z0-9_.-]*(?:\/[A-Za-z0-9_-][A-Za-z0-9_.-]*){0,9}$/;

/** The path workers load it by. Throws BAD_SPIDER. */
export function spiderInFolder(name: string, apiSpiders: string): string {
  if (apiSpiders === "none") {
    throw bad(
      name,
      "no spider is taken over HTTP, since workers would run its code; an operator names a folder of those that may be used in TRAWL_API_SPIDERS",
    );
  }
  if (name.length > 200 || !NAME.test(name)) {
    throw bad(name, "it is no path inside the folder of spiders; give one such as shop.ts or news/daily.ts");
  }
  const folder = resolve(apiSpiders);
  const path = resolve(folder, name);
  if (!isInside(path, folder)) throw bad(name, "there is no such file in the folder of spiders");
  return path;
}

/** By which name it would be submitted again; undefined where it could not be. */
export function nameInFolder(path: string, apiSpiders: string): string | undefined {
  if (apiSpiders === "none") return undefined;
  const name = relative(resolve(apiSpiders), path).split(sep).join("/");
  return NAME.test(name) ? name : undefined;
}

/** A link in the folder must not lead out of it, either. */
function isInside(path: string, folder: string): boolean {
  try {
    return realpathSync(path).startsWith(realpathSync(folder) + sep) && statSync(path).isFile();
  } catch {
    return false; // whatever keeps us from looking, it is not there to be used
  }
}

function bad(name: string, problem: string): TrawlError {
  const spider = name.slice(0, 200);
  return new TrawlError("BAD_SPIDER", {
    op: "api.spider",
    message: `spider ${JSON.stringify(spider)}: ${problem}`,
    detail: { spider },
  });
}
