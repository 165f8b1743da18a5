/**
 * What a job with `blocks` does when a site blocks a page. The steps that a page has taken are a shared value in the
 * broker. It exists only for pages that were blocked, so other tasks cost nothing. All tasks of a page use the same
 * value: its first task, and the one that loads the page in a browser.
 *
 * The value is written before the task is settled. If the worker crashes in between, the task runs again. A step may
 * then be skipped, but no step is repeated.
 */
import { hash } from "node:crypto";
import { type BlockState, type BlockStep, NEVER_BLOCKED, stepAfterBlock, tierOf } from "../../domain/block.ts";
import { stepOf, withoutStep } from "../../domain/task-url.ts";
import type { FetchOutcome } from "../../fetch/fetcher.ts";
import type { Frontier, Grant } from "../../frontier/frontier.ts";
import type { Attempt, TaskObserver } from "../observe/task-observer.ts";
import { renderAfterBlock } from "./next-task.ts";
import type { JobPlan } from "./plan.ts";
import type { TaskSession } from "./session-run.ts";
import { failedByBlock, fetchFailed, type TaskResult } from "./task-result.ts";

/** The state of a page, and its version in the broker; 0: the broker has none. */
export type PageBlocks = BlockState & { version: number };

type Task = {
  deps: { marks: Pick<Frontier, "findValue" | "keepValue"> };
  observe: TaskObserver;
  attempt: Attempt;
  grant: Grant;
  plan: JobPlan;
};
type Blocked = FetchOutcome & { kind: "retry" };

/** Longer than the retries of a page take. */
const KEPT_MS = 30 * 24 * 3_600_000;

/** The steps that the page of a task has taken. Undefined if the job has no steps for blocks. */
export async function findPageBlocks({ deps, grant, plan }: Task): Promise<PageBlocks | undefined> {
  if (plan.spec.blocks === undefined) return undefined;
  const isFirst = grant.attempt === 1 && stepOf(grant.url) !== "render";
  const found = isFirst ? undefined : await deps.marks.findValue(keyOf(grant));
  if (found === undefined || found.value === "") return { ...NEVER_BLOCKED, version: found?.version ?? 0 };
  return { ...(JSON.parse(found.value) as BlockState), version: found.version };
}

/** Decides what follows a blocked attempt, and prepares it. */
export async function afterBlock(
  task: Task,
  outcome: Blocked,
  before: PageBlocks,
  session: TaskSession | undefined,
): Promise<TaskResult> {
  const { observe, attempt, grant, plan } = task;
  const { blocks, retries } = plan.spec;
  const isLast = grant.attempt > retries.max;
  const next =
    blocks === undefined
      ? undefined
      : stepAfterBlock(blocks, before, (step) => isPossible(step, task, before, { session, isLast }));
  observe.steppedAfterBlock?.(attempt, next?.step ?? "fail");
  if (next === undefined) {
    await forgetBlocks(task, before);
    return failedByBlock(grant, outcome, outcome.detail + takenText(before.taken));
  }
  if (next.step === "session") await session?.replace();
  await keep(task, before, JSON.stringify(next.state), KEPT_MS);
  if (next.step === "browser") return renderAfterBlock(task, outcome);
  return fetchFailed(grant, { ...outcome, detail: `${outcome.detail}; next: ${next.step}` });
}

/** Removes the state of a page that is no longer blocked. A later job or a replay begins with the first step. */
export async function forgetBlocks(task: Task, before: PageBlocks): Promise<void> {
  if (before.version > 0) await keep(task, before, "", 1);
}

/** The task for the browser has retries of its own, so it is possible after the last retry too. */
function isPossible(
  step: BlockStep,
  { grant, plan }: Task,
  before: BlockState,
  { session, isLast }: { session: TaskSession | undefined; isLast: boolean },
): boolean {
  if (step === "browser") return grant.kind === "fetch";
  if (isLast) return false;
  switch (step) {
    case "wait":
      return true;
    case "session":
      return session !== undefined;
    case "proxy":
      return plan.exits !== "none" && tierOf(before) < plan.exits.rules.fallbacks.length;
  }
}

async function keep({ deps, grant }: Task, { version }: PageBlocks, value: string, ttlMs: number): Promise<void> {
  // Another worker can only have written it if this lease has ended. Then its value counts.
  await deps.marks.keepValue(keyOf(grant), value, { version, ttlMs });
}

function keyOf({ jobId, url }: Grant): string {
  return `blocks:${jobId}:${hash("sha1", withoutStep(url), "base64url")}`;
}

function takenText(taken: readonly BlockStep[]): string {
  return taken.length === 0 ? "" : `; steps taken: ${taken.join(", ")}`;
}
