/** `trawl records`: the output of a job, again or for the first time. */
import { type Command, Option } from "commander";
import type { JobView } from "../../frontier/frontier-admin.ts";
import { showable } from "../../runtime/showable.ts";
import { EXPORT_FORMATS, type ExportFormat } from "../../store/export/format.ts";
import type { Store } from "../../store/store.ts";
import { createRecordStream } from "../crawl/record-stream.ts";
import { checkOutput, exportTo } from "../export-to.ts";
import { inSession, type PlaceFlags, type Session, withPlaces } from "../session.ts";
import { plural } from "../terminal.ts";
import { getJob } from "../watch-job.ts";

type Flags = PlaceFlags & { format?: ExportFormat; out?: string; invalid?: boolean };

export function addRecords(program: Command): void {
  withPlaces(program.command("records <job>"))
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
  await inSession({ flags }, async (session) => {
    const { trawl, screen } = session;
    const job = await getJob(session, jobId);
    await sayIfNone(session, job, flags);
    if (flags.invalid === true) return printInvalid(trawl.store, job.id, screen.out);
    if (flags.out === undefined && (flags.format ?? "jsonl") === "jsonl") {
      const stream = createRecordStream(trawl, job.id, screen.out);
      stream.start();
      await stream.stop();
      if (flags.json === true)
        await screen.out(`${JSON.stringify({ id: job.id, records: await trawl.store.countRecords(job.id) })}\n`);
      return;
    }
    const count = await exportTo(session, job.id, flags.out ?? "-", undefined, flags.format);
    if (flags.json === true) screen.out(`${JSON.stringify({ id: job.id, records: count, out: flags.out })}\n`);
    else if (flags.out !== undefined) screen.err(`${count} records written to ${flags.out}\n`);
  });
}

/** Nothing on stdout could mean anything: a wrong job, a wrong store, or a crawl that has brought nothing yet. */
async function sayIfNone({ trawl, screen }: Session, job: JobView, { invalid }: Flags): Promise<void> {
  const isNone =
    invalid === true
      ? (await trawl.store.readInvalid(job.id, 0, 1)).length === 0
      : (await trawl.store.countRecords(job.id)) === 0;
  if (!isNone) return;
  const { pages } = job.tally;
  const what = invalid === true ? "invalid records" : "records";
  screen.err(
    `no ${what} of ${showable(job.id)} in this store: the job is ${job.state}, with ${plural(pages, "page")} fetched\n`,
  );
}

async function printInvalid(store: Store, jobId: string, out: (text: string) => Promise<void>): Promise<void> {
  for (let after = 0; ; ) {
    const batch = await store.readInvalid(jobId, after, 500);
    for (const { url, reason, fields } of batch)
      await out(`${JSON.stringify({ ...fields, _url: url, _reason: reason })}\n`);
    after = batch.at(-1)?.id ?? after;
    if (batch.length < 500) return;
  }
}
