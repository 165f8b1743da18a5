/** Reads from /proc what a process and its children have used. */
import { readdirSync, readFileSync } from "node:fs";

const TICKS_PER_SECOND = 100;

/** User and system time of a process, of its ended children and of its running descendants. */
export function readCpuSeconds(pid) {
  const stat = unlessEnded(() => readFileSync(`/proc/${pid}/stat`, "utf8"), "");
  if (stat === "") return 0;
  // The name of the program, in brackets, may contain spaces.
  const fields = stat.replace(/^.*\) /s, "").split(" ");
  const own = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND;
  return listChildren(pid).reduce((sum, child) => sum + readCpuSeconds(child), own);
}

export function listDescendants(pid) {
  return listChildren(pid).flatMap((child) => [child, ...listDescendants(child)]);
}

export function readHighWater(pid) {
  const status = unlessEnded(() => readFileSync(`/proc/${pid}/status`, "utf8"), "");
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1_024;
}

function listChildren(pid) {
  return unlessEnded(() => readdirSync(`/proc/${pid}/task`), []).flatMap((thread) =>
    unlessEnded(() => readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8"), "")
      .split(" ")
      .filter((child) => child !== ""),
  );
}

/** Returns the result of `read`, or `otherwise` if the process or thread has ended. */
function unlessEnded(read, otherwise) {
  try {
    return read();
  } catch (cause) {
    if (cause.code === "ENOENT" || cause.code === "ESRCH") return otherwise;
    throw cause;
  }
}
