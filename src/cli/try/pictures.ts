/** Writes screenshots and PDFs of `trawl try`. */
import { writeFile } from "node:fs/promises";
import { basename, extname } from "node:path";
import { formatBytes } from "../../domain/format-number.ts";
import { TrawlError } from "../../errors.ts";
import { showable } from "../../runtime/showable.ts";
import type { JobInput } from "../../submit/job-schema.ts";
import type { Screen } from "../terminal.ts";

export type PictureFlags = { render?: string; screenshot?: string; pdf?: string };

/** Adds the screenshot and the PDF to the job. The page must be rendered for them. */
export function withPictures(job: JobInput, { screenshot, pdf, render }: PictureFlags): JobInput {
  if (screenshot === undefined && pdf === undefined) return job;
  refuseOtherKind("--screenshot", screenshot, ".png");
  refuseOtherKind("--pdf", pdf, ".pdf");
  if (render === "never") {
    throw new TrawlError("BAD_USAGE", {
      op: "cli.try",
      message: "--screenshot and --pdf need a rendered page; remove --render never",
    });
  }
  return {
    ...job,
    render: "always",
    browser: { ...job.browser, screenshot: screenshot !== undefined, pdf: pdf !== undefined },
  };
}

/** Throws BAD_USAGE for a file extension of another format. */
function refuseOtherKind(flag: string, path: string | undefined, kind: string): void {
  const named = extname(path ?? "");
  if (path === undefined || named === "" || named.toLowerCase() === kind) return;
  throw new TrawlError("BAD_USAGE", {
    op: "cli.try",
    message: `${flag} writes ${kind.slice(1).toUpperCase()}, not ${named}: name the file ${basename(path, named)}${kind}`,
    detail: { path },
  });
}

/** Writes the file and prints its name and size. */
export async function writePicture(path: string | undefined, bytes: Buffer | undefined, screen: Screen): Promise<void> {
  if (path === undefined || bytes === undefined) return;
  await writeFile(path, bytes).catch((cause: Error) => {
    throw new TrawlError("BAD_OUTPUT", {
      op: "cli.try",
      message: `cannot write ${path}: ${cause.message}; choose a file in an existing folder`,
      detail: { path },
      cause,
    });
  });
  screen.err(`${showable(`wrote ${path} (${formatBytes(bytes.length)})`)}\n`);
}
