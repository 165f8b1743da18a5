/** `trawl proxies`: shows the health of the proxies, or compares proxies with `bench`. */
import type { Command } from "commander";
import { TrawlError } from "../../errors.ts";
import { wholeNumber } from "../flags.ts";
import { type ConnectionFlags, inSession, withConnectionFlags } from "../session.ts";
import { processScreen } from "../terminal.ts";

type Flags = ConnectionFlags & { proxies?: string; requests: number };

const EXAMPLES = `
Examples:
  trawl proxies
  trawl proxies --json
  trawl proxies bench https://a.example/ https://b.example/ --proxies list.txt

Without an action, the command shows what the fleet has measured: the state of
each proxy, and success, response time and cost by provider and site. Workers
write their results to the broker every 2 seconds.
bench sends requests to the given URLs through each proxy in turn, at the rate
of the settings (TRAWL_RATE), and names the best proxy for each URL. It does not
read robots.txt.
Exit codes: 0 success, 1 no proxy was successful for one of the URLs, 2 invalid
usage, 3 broker unavailable, 130 interrupted.`;

export function addProxies(program: Command): void {
  withConnectionFlags(program.command("proxies"))
    .argument("[action]", "bench: compare proxies (default: show their health)")
    .argument("[urls...]", "bench: the URLs to request")
    .description("show the success, response time and cost of proxies, or compare proxies (bench)")
    .option("--proxies <list>", "URLs, separated by commas, or a file (default: those of the settings)")
    .option("--requests <n>", "bench: requests per proxy and URL", wholeNumber("--requests", 1, 1000), 10)
    .addHelpText("after", EXAMPLES)
    .action(async (action: string | undefined, urls: string[], flags: Flags) => {
      if (action === undefined) return show(flags);
      if (action !== "bench") throw usage(`unknown action ${action}; use bench, or none`);
      process.exitCode = await bench(urls, flags);
    });
}

async function show(flags: Flags): Promise<void> {
  const [{ readAllHealth }, { describeExits }, { figuresOf }, { figuresText }] = await Promise.all([
    import("../../fetch/exit/health-codec.ts"),
    import("../../config/resolve-exits.ts"),
    import("../../fetch/exit/figures.ts"),
    import("../proxies/figures-text.ts"),
  ]);
  await inSession({ flags, settings: { proxies: flags.proxies } }, async ({ config, screen, trawl }) => {
    const health = await readAllHealth(trawl.frontier);
    const figures = figuresOf(health, describeExits(config.proxies), trawl.clock.now());
    if (flags.json === true) return screen.out(`${JSON.stringify(figures)}\n`);
    if (figures.proxies.length > 0) return screen.out(figuresText(figures));
    screen.err("no proxies; list them in TRAWL_PROXIES, or pass --proxy to crawl, worker or up\n");
  });
}

async function bench(urls: readonly string[], flags: Flags): Promise<number> {
  const [{ loadConfig }, { resolveExits }, { benchProxies, benchText }, { canonicalUrl }] = await Promise.all([
    import("../../config/load.ts"),
    import("../../config/resolve-exits.ts"),
    import("../proxies/bench.ts"),
    import("../../domain/canonical-url.ts"),
  ]);
  const targets = urls.map((url) => canonicalUrl(url) ?? refuse(url));
  if (targets.length === 0) throw usage("bench needs at least one URL: trawl proxies bench https://a.example/");
  const config = await loadConfig({ proxies: flags.proxies }, process.cwd());
  const exits = resolveExits(config.proxies);
  if (exits.length === 0) throw usage("bench needs proxies; pass --proxies FILE, or set TRAWL_PROXIES");
  const { signal } = new AbortController(); // a signal of the user ends the process
  const results = await benchProxies(config, { urls: targets, exits, rounds: flags.requests, signal });
  const screen = processScreen();
  await screen.out(flags.json === true ? `${JSON.stringify({ targets: results })}\n` : benchText(results));
  return results.every(({ winner }) => winner !== null) ? 0 : 1;
}

function refuse(url: string): never {
  throw usage(`bench takes absolute http(s) URLs, not ${JSON.stringify(url.slice(0, 200))}`);
}

function usage(problem: string): TrawlError {
  return new TrawlError("BAD_USAGE", { op: "cli.proxies", message: `trawl proxies: ${problem}` });
}
