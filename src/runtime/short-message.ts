const MAX_LENGTH = 300;

/** A message from outside Trawl, as one line of limited length. */
export function shortMessage(message: string): string {
  return message.replace(/\s+/g, " ").trim().slice(0, MAX_LENGTH);
}
