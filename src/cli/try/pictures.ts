/** What a tried page looks like, in files. */
import { writeFile } from "node:fs/promises";
import { TrawlError } from "../../errors.ts";
import type { JobInput } from "../../submit/job-schema.ts";

export type PictureFlags = { render?: string; screenshot?: string; pdf?: string };

/** Who wants to see the page wants it in a browser. */
export function withPictures(job: JobInput, { screenshot, pdf, render }: PictureFlags): JobInput {
  if (screenshot === undefined && pdf === undefined) return job;
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

export async function writePicture(path: string | undefined, bytes: Buffer | undefined): Promise<void> {
  if (path === undefined || bytes === undefined) return;
  await writeFile(path, bytes).catch((cause: Error) => {
    throw new TrawlError("BAD_OUTPUT", {
      op: "cli.try",
      message: `${path} cannot be written: ${cause.message}; name a file in a folder that exists`,
      detail: { path },
      cause,
    });
  });
}
