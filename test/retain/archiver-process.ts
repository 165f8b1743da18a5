/** Archives every job that has ended, once, and exits. The argument has the settings, as JSON. */
import { openApp } from "../../src/compose/app.ts";
import { retentionDeps } from "../../src/compose/retention.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import { archiveEnded } from "../../src/retain/archive-ended.ts";

const values = JSON.parse(process.argv[2] ?? "{}") as Record<string, string>;
const trawl = await openApp(resolveConfig([{ from: "test", values }]), () => {});
await archiveEnded(retentionDeps(trawl), Infinity, new AbortController().signal);
await trawl.close();
