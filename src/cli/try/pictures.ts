/** What a tried page looks like, in files. */
import { writeFile } from "node:fs/promises";
import { basename, extname } from "node:path";
import { formatBytes } from "../../domain/counted.ts";
import { TrawlError } from "../../errors.ts";
import { showable } from "../../runtime/showable.ts";
import type { JobInput } from "../../submit/job-schema.ts";
import type { Screen } from "../terminal.ts";

export type PictureFlags = { render?: string; screenshot?: string; pdf?: string };

/** Who wants to see the page wants it in a browser. */
export function withPictures(job: JobInput, { screenshot, pdf, render }: PictureFlags): JobInput {
  if (screenshot === undefined && pdf === undefined) return job;
  refuseOtherKind("--screenshot", screenshot, ".png");
  refuseOtherKind("--pdf", pdf, ".pdf");
  if (render === "never") {
    throw new TrawlError("BAD_USAGE", {
      op: "cli.try",
      message: "--screenshot and --pdf show the page in a browser: leave out --render never",
    });
  }
  return {
    ...job,
    render: "always",
    browser: { ...job.browser, screenshot: screenshot !== undefined, pdf: pdf !== undefined },
  };
}

/** A file must not be called what it is not. */
function refuseOtherKind(flag: string, path: string | undefined, kind: string): void {
  const named = extname(path ?? "");
  if (path === undefined || named === "" || named.toLowerCase() === kind) return;
  throw new TrawlError("BAD_USAGE", {
    op: "cli.try",
    message: `${flag} writes ${kind.slice(1).toUpperCase()}, not ${named}: name the file ${basename(path, named)}${kind}`,
    detail: { path },
  });
}

/** Tells what was written where. */
export async function writePicture(path: string | undefined, bytes: Buffer | undefined, screen: Screen): Promise<void> {
  if (path === undefined || bytes === undefined) return;
  await writeFile(path, bytes).catch((cause: Error) => {
    throw new TrawlError("BAD_OUTPUT", {
      op: "cli.try",
      message: `${path} cannot be written: ${cause.message}; name a file in a folder that exists`,
      detail: { path },
      cause,
    });
  });
  screen.err(`${showable(`wrote ${path} (${formatBytes(bytes.length)})`)}\n`);
}
