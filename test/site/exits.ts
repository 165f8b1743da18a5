/** Exits for tests, as the settings resolve them. */
import { proxyList } from "../../src/config/proxy-list.ts";
import { resolveExits } from "../../src/config/resolve-exits.ts";
import type { Exit } from "../../src/domain/exit.ts";

export function exitsFrom(written: readonly unknown[]): Exit[] {
  const field = proxyList({ env: "TRAWL_PROXIES", doc: "" });
  const entries = field.parse(written);
  if (entries === undefined) throw new Error(field.problemOf(written));
  return resolveExits(entries);
}

export function exitFrom(written: unknown): Exit {
  const [exit] = exitsFrom([written]);
  if (exit === undefined) throw new Error("no exit");
  return exit;
}
