/** The flags that select proxies, shared by `crawl`, `try`, `worker` and `up`. */
import type { Command } from "commander";
import { collect } from "./flags.ts";

export type ProxyFlags = { proxy: string[]; region?: string };

export function withProxyFlag(command: Command): Command {
  return command.option(
    "--proxy <url|file>",
    "send requests through this proxy (http, https, socks5) or gateway (a URL with {url}), or through those listed in a file; write passwords as env:NAME, because other users can read the arguments of a process (repeatable)",
    collect,
    [],
  );
}

/** The flags as settings. Without --proxy, the environment or the config file sets the proxies. */
export function exitSettings({ proxy = [], region }: Partial<ProxyFlags>): Record<string, unknown> {
  return { proxies: proxy.length === 0 ? undefined : proxy, region };
}

/** The flags as arguments of a child process. */
export function exitArgs({ proxy = [], region }: Partial<ProxyFlags>): string[] {
  return [...proxy.flatMap((one) => ["--proxy", one]), ...(region === undefined ? [] : ["--region", region])];
}
