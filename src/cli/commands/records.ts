/** `trawl records`: the output of a job, again or for the first time. */
import { type Command, Option } from "commander";
import type { JobOut } from "../../api/wire-types.ts";
import { plural } from "../../domain/counted.ts";
import { showable } from "../../runtime/showable.ts";
import { EXPORT_FORMATS, type ExportFormat } from "../../store/export/format.ts";
import { checkOutput, exportTo } from "../export-to.ts";
import type { ControlPlane } from "../plane/control-plane.ts";
import { getJob } from "../plane/get-job.ts";
import { inPlane, type PlaneFlags, type PlaneSession, withPlane } from "../plane/in-plane.ts";

type Flags = PlaneFlags & { format?: ExportFormat; out?: string; invalid?: boolean };

export function addRecords(program: Command): void {
  withPlane(program.command("records <job>"))
    .description("print a job's records, or write them to a file")
    .addOption(
      new Option("--format <format>", "how (default: from the file's name, else jsonl)").choices(EXPORT_FORMATS),
    )
    .option("--out <file>", "write here instead of stdout")
    .option("--invalid", "the records that failed their schema, with the reason, as JSON lines")
    .action((jobId: string, flags: Flags) => records(jobId, flags));
}

async function records(jobId: string, flags: Flags): Promise<void> {
  if (flags.out !== undefined) await checkOutput(flags.out, flags.format);
  await inPlane({ flags }, async (session) => {
    const { plane, screen } = session;
    const job = await getJob(plane, jobId);
    await sayIfNone(session, job, flags);
    if (flags.invalid === true) return printInvalid(plane.records, job.id, screen.out);
    const count = await exportTo({ records: plane.records, screen }, job.id, flags.out ?? "-", undefined, flags.format);
    if (flags.json === true) await screen.out(`${JSON.stringify({ id: job.id, records: count, out: flags.out })}\n`);
    else if (flags.out !== undefined) screen.err(`${plural(count, "record")} written to ${flags.out}\n`);
  });
}

/** Nothing on stdout could mean anything: a wrong job, a wrong store, or a crawl that has brought nothing yet. */
async function sayIfNone({ plane, screen }: PlaneSession, job: JobOut, { invalid }: Flags): Promise<void> {
  const { records } = plane;
  const [first] = await (invalid === true ? records.readInvalid(job.id, 0, 1) : records.readRecords(job.id, 0, 1));
  if (first !== undefined) return;
  const { pages } = job.tally;
  const what = invalid === true ? "invalid records" : "records";
  screen.err(
    `no ${what} of ${showable(job.id)} in this store: the job is ${job.state}, with ${plural(pages, "page")} fetched\n`,
  );
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
