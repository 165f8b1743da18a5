/** How much room there is. */
import { signal } from "@preact/signals";

export type Room = "phone" | "tablet" | "laptop" | "desk" | "wide";

const LEAST_WIDTHS: readonly [Room, string][] = [
  ["tablet", "(min-width: 640px)"],
  ["laptop", "(min-width: 1000px)"],
  ["desk", "(min-width: 1100px)"],
  ["wide", "(min-width: 1380px)"],
];
const ROOMS: readonly Room[] = ["phone", "tablet", "laptop", "desk", "wide"];

export const room = signal<Room>("desk");

export function startScreen(): void {
  const queries = LEAST_WIDTHS.map(([name, width]) => ({ name, query: matchMedia(width) }));
  const look = () => {
    room.value = queries.findLast(({ query }) => query.matches)?.name ?? "phone";
  };
  for (const { query } of queries) query.addEventListener("change", look);
  look();
}

export function hasRoomFor(needed: Room, there: Room): boolean {
  return ROOMS.indexOf(there) >= ROOMS.indexOf(needed);
}
