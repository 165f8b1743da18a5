// Measures how long each task blocked a page, from the trace of the browser.

/** Users do not notice shorter tasks. */
const LONG_MS = 50;
const TASK = "ThreadControllerImpl::RunTask";
const MAIN_THREAD = "CrRendererMain";

/**
 * Starts a trace. The returned function ends it and returns the tasks of 50 ms or more on the main thread of any page.
 * The limit applies to `wallMs`; `cpuMs` is the time that the task would take on an idle machine.
 */
export async function traceTasks(page) {
  const session = await page.context().newCDPSession(page);
  const events = [];
  session.on("Tracing.dataCollected", ({ value }) => events.push(...value));
  await session.send("Tracing.start", {
    traceConfig: { includedCategories: ["toplevel", "__metadata"], excludedCategories: ["*"] },
    transferMode: "ReportEvents",
  });
  return async () => {
    const isOver = new Promise((resolve) => session.once("Tracing.tracingComplete", resolve));
    await session.send("Tracing.end");
    await isOver;
    return longTasksOf(events);
  };
}

function longTasksOf(events) {
  const mains = new Set(
    events.filter(({ name, args }) => name === "thread_name" && args?.name === MAIN_THREAD).map(threadOf),
  );
  const tasks = events.filter((event) => event.name === TASK && event.ph === "X" && mains.has(threadOf(event)));
  if (tasks.length === 0)
    throw new Error("the trace contains no tasks of a page: this version of the browser may use another name for them");
  const from = Math.min(...tasks.map(({ ts }) => ts));
  return tasks
    .map(({ ts, dur = 0, tdur = 0 }) => ({ atMs: (ts - from) / 1_000, wallMs: dur / 1_000, cpuMs: tdur / 1_000 }))
    .filter(({ wallMs }) => wallMs >= LONG_MS);
}

function threadOf({ pid, tid }) {
  return `${pid} ${tid}`;
}
