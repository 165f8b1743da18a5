/** A key as it is being written: text in every field, until it is sent. */
import type { NewKey } from "../../../../src/client/client.ts";
import type { KeyScope } from "./key-words.ts";

export type KeySketch = {
  name: string;
  scopes: readonly KeyScope[];
  tenant: string;
  days: string;
  pending: string;
  urlsPerSecond: string;
  jobs: string;
};

const DAY_MS = 86_400_000;

/** The first one has to let its maker in again. */
export function firstDraft(isFirst: boolean): KeySketch {
  const scopes: KeyScope[] = isFirst ? ["admin"] : ["read", "submit"];
  return { name: "", scopes, tenant: "", days: "", pending: "", urlsPerSecond: "", jobs: "" };
}

export function draftOf({ name, scopes, tenant, days, pending, urlsPerSecond, jobs }: KeySketch): NewKey {
  return {
    name: name.trim(),
    scopes: [...scopes],
    tenant: tenant.trim() === "" ? null : tenant.trim(),
    expiresAt: days.trim() === "" ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString(),
    quotas: { pending: numberOf(pending), urlsPerSecond: numberOf(urlsPerSecond), jobs: numberOf(jobs) },
  };
}

function numberOf(text: string): number | null {
  return text.trim() === "" ? null : Number(text);
}
