/** Writes records to stdout as they are stored, one JSON line each, for pipes. */
import type { App } from "../../compose/app.ts";
import type { Service } from "../../runtime/service.ts";
import { recordJson } from "../../store/export/record-line.ts";

const POLL_MS = 200;
const PAGE = 500;

export function createRecordStream(
  { store, clock }: Pick<App, "store" | "clock">,
  jobId: string,
  out: (text: string) => Promise<void>,
): Service {
  const stopping = new AbortController();
  let loop: Promise<void> | undefined;
  let lastId = 0;

  async function sendNew(): Promise<void> {
    for (;;) {
      const records = await store.readRecords(jobId, lastId, PAGE);
      for (const record of records) await out(`${recordJson(record)}\n`);
      lastId = records.at(-1)?.id ?? lastId;
      if (records.length < PAGE) return;
    }
  }

  async function followUntilStopped(): Promise<void> {
    while (!stopping.signal.aborted) {
      await sendNew();
      await clock.sleep(POLL_MS, stopping.signal);
    }
    await sendNew();
  }

  return {
    start: () => {
      loop ??= followUntilStopped();
      loop.catch(() => {}); // stop() rejects with the same error
    },
    stop: async () => {
      stopping.abort();
      await loop;
    },
  };
}
