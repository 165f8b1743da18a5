/** The contents of the form for a new key: every field is text until it is sent. */
import type { NewKey } from "../../../../src/client/client.ts";
import type { KeyScope } from "../../session.ts";

export type KeyDraft = {
  name: string;
  scopes: readonly KeyScope[];
  tenant: string;
  days: string;
  pending: string;
  urlsPerSecond: string;
  jobs: string;
};

const DAY_MS = 86_400_000;

/** The first key must have the scope admin, because the user who creates it is then signed in with it. */
export function initialKeyDraft(isFirst: boolean): KeyDraft {
  const scopes: KeyScope[] = isFirst ? ["admin"] : ["read", "submit"];
  return { name: "", scopes, tenant: "", days: "", pending: "", urlsPerSecond: "", jobs: "" };
}

export function newKeyOf({ name, scopes, tenant, days, pending, urlsPerSecond, jobs }: KeyDraft): NewKey {
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
