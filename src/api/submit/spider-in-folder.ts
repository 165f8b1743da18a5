/** Workers run the code of a spider. An API caller can only name spiders inside the folder `apiSpiders`. */
import { realpathSync, statSync } from "node:fs";
import { relative, resolve, sep } from "node:path";
import { TrawlError } from "../../errors.ts";

/** A relative path. No part begins with a dot, so the path cannot lead out of the folder. */
const NAME = /^[A-Za-z0-9_-][A-Za-z0-9_.-]*(?:\/[A-Za-z0-9_-][A-Za-z0-9_.-]*){0,9}$/;

/** The path from which workers load the spider. Throws BAD_SPIDER. */
export function spiderInFolder(name: string, apiSpiders: string): string {
  if (apiSpiders === "none") {
    throw bad(
      name,
      "spiders are not allowed over HTTP, because workers run their code; an operator can allow the spiders of one folder with TRAWL_API_SPIDERS",
    );
  }
  if (name.length > 200 || !NAME.test(name)) {
    throw bad(name, "it is not a path inside the spider folder; use a path such as shop.ts or news/daily.ts");
  }
  const folder = resolve(apiSpiders);
  const path = resolve(folder, name);
  if (!isInside(path, folder)) throw bad(name, "the spider folder has no such file");
  return path;
}

/** The name for an API caller; undefined if the spider is not in the folder. */
export function nameInFolder(path: string, apiSpiders: string): string | undefined {
  if (apiSpiders === "none") return undefined;
  const name = relative(resolve(apiSpiders), path).split(sep).join("/");
  return NAME.test(name) ? name : undefined;
}

/** Symbolic links are resolved, because they must not lead out of the folder. */
function isInside(path: string, folder: string): boolean {
  try {
    return realpathSync(path).startsWith(realpathSync(folder) + sep) && statSync(path).isFile();
  } catch {
    return false; // not readable, so workers cannot use it
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
