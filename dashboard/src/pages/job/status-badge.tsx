import { Badge } from "../../ui/badge.tsx";

/** What a site answered with. */
export function StatusBadge({ status }: { status: number }) {
  const tone = status < 300 ? "good" : status < 400 ? "busy" : status < 500 ? "warn" : "bad";
  return <Badge tone={tone}>{status}</Badge>;
}
