/** How much room there is. */
import { signal } from "@preact/signals";

export type Room = "phone" | "tablet" | "desk";

const TABLET = "(min-width: 640px)";
const DESK = "(min-width: 1100px)";
const ROOMS: readonly Room[] = ["phone", "tablet", "desk"];

export const room = signal<Room>("desk");

export function startScreen(): void {
  const [tablet, desk] = [matchMedia(TABLET), matchMedia(DESK)];
  const look = () => {
    room.value = desk.matches ? "desk" : tablet.matches ? "tablet" : "phone";
  };
  for (const query of [tablet, desk]) query.addEventListener("change", look);
  look();
}

export function hasRoomFor(needed: Room, there: Room): boolean {
  return ROOMS.indexOf(there) >= ROOMS.indexOf(needed);
}
