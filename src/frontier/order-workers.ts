/** An order to workers, by the name that people know them by: their own, or that of the supervisor of several. */
import { TrawlError } from "../errors.ts";
import { shortProcess } from "../runtime/process-id.ts";
import type { AskedOrder, WorkerOrder } from "./frontier.ts";
import type { FrontierAdmin, WorkerView } from "./frontier-admin.ts";

export type OrderAnswer = { order: AskedOrder /** Who was told. */; workers: string[] };

/**
 * Gives the order; workers hear it with their next word, within seconds. Throws NOT_FOUND; BAD_REQUEST where several are
 * called that; ORDER_REFUSED where whoever is could not follow it.
 */
export async function orderWorkers(
  frontier: Pick<FrontierAdmin, "listWorkers" | "orderWorker">,
  name: string,
  order: AskedOrder,
): Promise<OrderAnswer> {
  const all = await frontier.listWorkers();
  const supervised = all.filter(({ vitals }) => isCalled(vitals?.supervisor, name));
  const meant = supervised.length > 0 ? supervised : all.filter(({ worker }) => isCalled(worker, name));
  refuseSeveral(name, meant, supervised.length > 0);
  const given: WorkerOrder = supervised.length > 0 && order === "drain" ? "drain-all" : order;
  const able = meant.filter(({ vitals }) => vitals?.obeys?.includes(given));
  const [unable] = meant;
  if (able.length === 0 && unable !== undefined) throw refused(unable, order);
  const told = await Promise.all(able.map(({ worker }) => frontier.orderWorker(worker, given)));
  const workers = able.map(({ worker }) => worker).filter((_, nth) => told[nth]);
  if (workers.length > 0) return { order, workers };
  throw new TrawlError("NOT_FOUND", {
    op: "workers.order",
    message: `no worker ${JSON.stringify(name)} is there; trawl workers, or GET /v1/workers, lists those that are`,
    detail: { worker: name },
  });
}

/** By what names all of these that can follow an order are asked: those of one supervisor together. */
export function namesToAsk(workers: readonly WorkerView[], order: AskedOrder): string[] {
  const able = workers.filter(({ vitals }) => vitals?.obeys?.includes(order));
  return [...new Set(able.map(({ worker, vitals }) => vitals?.supervisor ?? worker))];
}

function isCalled(process: string | undefined, name: string): boolean {
  return process !== undefined && (process === name || shortProcess(process) === name);
}

/** Two machines may have a process of the same number, and containers the same name. */
function refuseSeveral(name: string, meant: readonly WorkerView[], isSupervisor: boolean): void {
  const names = new Set(meant.map(({ worker, vitals }) => (isSupervisor ? vitals?.supervisor : worker)));
  if (names.size < 2) return;
  throw new TrawlError("BAD_REQUEST", {
    op: "workers.order",
    message: `${names.size} processes are called ${name}; give the whole name of one: ${[...names].join(", ")}`,
  });
}

function refused(view: WorkerView, order: AskedOrder): TrawlError {
  const { worker } = view;
  return new TrawlError("ORDER_REFUSED", {
    op: "workers.order",
    message: `${shortProcess(worker)} cannot ${order}: ${whyNot(view)}`,
    detail: { worker, order },
  });
}

function whyNot({ version, vitals }: WorkerView): string {
  const { obeys } = vitals ?? {};
  if (obeys === undefined) return `it runs Trawl ${version}, which takes no orders; stop it there with SIGTERM`;
  if (obeys.length === 0) return "it works for one crawl, and ends with it; interrupt that with Ctrl-C where it runs";
  return "it has no supervisor that would start another in its place; drain it, and start one";
}
