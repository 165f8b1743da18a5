/** The workers, looked at every few seconds; who was there a while ago is remembered, also from page to page. */
import { signal } from "@preact/signals";
import { isApiError } from "../../../../src/client/api-error.ts";
import { lostAt } from "../../live.ts";
import { usePolled } from "../../polled.ts";
import { api } from "../../session.ts";
import { missed, type Watched, watchedAfter } from "./fleet-rows.ts";

const LOOK_MS = 2_500;

const watched = signal<Watched | undefined>(undefined);

export function useFleet() {
  const { error, reload } = usePolled(async (leaving) => {
    const workers = await api().workers({ signal: leaving });
    const seen = watchedAfter(watched.peek(), workers, Date.now());
    watched.value = seen;
    lostAt.value = missed(seen).map(({ goneAt }) => goneAt);
  }, LOOK_MS);
  // That the server is away is said above the page.
  const isToldAbove = watched.value !== undefined && isApiError(error, "API_UNREACHABLE");
  return { watched: watched.value, error: isToldAbove ? undefined : error, reload };
}
