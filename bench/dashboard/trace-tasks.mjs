// How long each task kept a page from answering, as the browser's own trace has it.

/** Those that people would notice, if at all. */
const LONG_MS = 50;
const TASK = "ThreadControllerImpl::RunTask";
const MAIN_THREAD = "CrRendererMain";

/**
 * Traces the page from here on. The answer ends it, with the tasks of 50 ms or more on the main thread of any page:
 * `wallMs` is what the bar is about; `cpuMs` is what it would be on a machine with nothing else to do.
 */
export async function traceTasks(page) {
  const talk = await page.context().newCDPSession(page);
  const events = [];
  talk.on("Tracing.dataCollected", ({ value }) => events.push(...value));
  await talk.send("Tracing.start", {
    traceConfig: { includedCategories: ["toplevel", "__metadata"], excludedCategories: ["*"] },
    transferMode: "ReportEvents",
  });
  return async () => {
    const isOver = new Promise((resolve) => talk.once("Tracing.tracingComplete", resolve));
    await talk.send("Tracing.end");
    await isOver;
    return longTasksOf(events);
  };
}

function longTasksOf(events) {
  const mains = new Set(
    events.filter(({ name, args }) => name === "thread_name" && args?.name === MAIN_THREAD).map(threadOf),
  );
  const tasks = events.filter((event) => event.name === TASK && event.ph === "X" && mains.has(threadOf(event)));
  if (tasks.length === 0) throw new Error("the trace has no tasks of a page: the browser calls them otherwise now");
  const from = Math.min(...tasks.map(({ ts }) => ts));
  return tasks
    .map(({ ts, dur = 0, tdur = 0 }) => ({ atMs: (ts - from) / 1_000, wallMs: dur / 1_000, cpuMs: tdur / 1_000 }))
    .filter(({ wallMs }) => wallMs >= LONG_MS);
}

function threadOf({ pid, tid }) {
  return `${pid} ${tid}`;
}
