/** `trawl records`: prints or exports a job's records. */
import { type Command, Option } from "commander";
import type { JobOut } from "../../client/wire-types.ts";
import { plural } from "../../domain/format-number.ts";
import { showable } from "../../runtime/showable.ts";
import { EXPORT_FORMATS, type ExportFormat } from "../../store/export/format.ts";
import { checkOutput, exportTo } from "../export-to.ts";
import { findNoPageCause } from "../failed-pages.ts";
import { getJobOrNewest } from "../get-job-or-newest.ts";
import type { ControlPlane } from "../plane/control-plane.ts";

import { type PlaneFlags, type PlaneSession, runOnPlane, withPlaneFlags } from "../plane/run-on-plane.ts";

type Flags = PlaneFlags & { format?: ExportFormat; out?: string; invalid?: boolean };

export function addRecords(program: Command): void {
  withPlaneFlags(program.command("records [job]"))
    .description("print a job's records, or write them to a file (default: the newest job)")
    .addOption(
      new Option("--format <format>", "output format")
        .choices(EXPORT_FORMATS)
        .default(undefined, "from the file name, else jsonl"),
    )
    .option("--out <file>", "write to this file instead of stdout")
    .option(
      "--invalid",
      "print the records that do not match their schema or lack a required field, each with the reason, as JSON lines on stdout",
    )
    .action((jobId: string | undefined, flags: Flags) => records(jobId, flags));
}

async function records(jobId: string | undefined, flags: Flags): Promise<void> {
  if (flags.out !== undefined) await checkOutput(flags.out, flags.format);
  await runOnPlane({ flags }, async (session) => {
    const { plane, screen } = session;
    const job = await getJobOrNewest(session, jobId, flags);
    await reportIfNone(session, job, flags);
    if (flags.invalid === true) return printInvalid(plane.records, job.id, screen.out);
    const count = await exportTo({ records: plane.records, screen }, job.id, flags.out ?? "-", undefined, flags.format);
    if (flags.json === true) await screen.out(`${JSON.stringify({ id: job.id, records: count, out: flags.out })}\n`);
    else if (flags.out !== undefined) screen.err(`${plural(count, "record")} written to ${flags.out}\n`);
  });
}

/**
 * Explains why the output is empty. There are several causes: the wrong job, the wrong store, or a crawl without
 * records so far.
 */
async function reportIfNone({ plane, screen }: PlaneSession, job: JobOut, { invalid }: Flags): Promise<void> {
  const { records } = plane;
  const [first] = await (invalid === true ? records.readInvalid(job.id, 0, 1) : records.readRecords(job.id, 0, 1));
  if (first !== undefined) return;
  const what = invalid === true ? "invalid records" : "records";
  const cause = await findNoPageCause(plane, job);
  const facts = `${job.state}, ${cause ?? `${plural(job.tally.pages, "page")} fetched`}`;
  const next = cause === undefined ? "" : `; see: ${screen.command} dead ${job.id}`;
  screen.err(`${showable(`job ${job.id} has no ${what} in this store (${facts})${next}`)}\n`);
}

async function printInvalid(
  store: ControlPlane["records"],
  jobId: string,
  out: (text: string) => Promise<void>,
): Promise<void> {
  for (let after = 0; ; ) {
    const batch = await store.readInvalid(jobId, after, 500);
    for (const { url, reason, fields } of batch)
      await out(`${JSON.stringify({ ...fields, _url: url, _reason: reason })}\n`);
    after = batch.at(-1)?.id ?? after;
    if (batch.length < 500) return;
  }
}
