/** The messages of `trawl up` on stderr: its start, and the lines of its processes with their names. */
import { maskedUrl } from "../../config/connection-url.ts";
import type { Config } from "../../config/schema.ts";
import { formatDuration } from "../../domain/duration.ts";
import { plural } from "../../domain/format-number.ts";
import { createLog } from "../../runtime/log.ts";
import { showable } from "../../runtime/showable.ts";
import type { Place } from "../../worker/pool/supervisor.ts";
import { formatLogLine, linesTo } from "../log-lines.ts";
import { type Listening, NO_DASHBOARD } from "../serve/run-server.ts";
import { type Screen, table } from "../terminal.ts";
import { placeName } from "../worker/pool-output.ts";
import type { UpGroup } from "./groups.ts";

type UpOutput = {
  /** `at` is undefined with --no-serve. */
  started(groups: readonly UpGroup[], at: Listening | undefined): void;
  /** The server process was replaced and listens again. */
  back(at: Listening): void;
  /** A process printed a line. */
  line(place: Place, text: string): void;
};

export function createUpOutput(screen: Screen, config: Config, isJson: boolean): UpOutput {
  return isJson ? jsonOutput(screen, config) : textOutput(screen, config);
}

/** The JSON fields of a group, without its command line. */
export function groupFields({ name, processes }: UpGroup) {
  return { name, queues: [name], processes };
}

function jsonOutput(screen: Screen, { broker, store }: Config): UpOutput {
  const log = createLog("info", screen.err);
  return {
    started: (groups, at) =>
      log.info("up.started", {
        ...(at === undefined ? {} : { url: at.url }),
        groups: groups.map(groupFields),
        broker: maskedUrl(broker),
        store: maskedUrl(store),
      }),
    back: ({ url }) => log.info("up.server_back", { url }),
    line: linesTo(screen, true),
  };
}

function textOutput(screen: Screen, config: Config): UpOutput {
  const { paint } = screen;
  return {
    started(groups, at) {
      const rows = [
        ...(at === undefined ? [] : serverRows(at)),
        ...groups.map(({ name, processes }) => [`  ${name}`, plural(processes, "process", "processes")]),
        ["  broker", maskedUrl(config.broker)],
        ["  store", maskedUrl(config.store)],
        ["  stop", `Ctrl-C; running tasks get ${formatDuration(config.graceMs)} to finish`],
      ];
      screen.err(`${paint.bold("started")}\n${table(rows)}`);
    },
    back: ({ url, hasDashboard }) =>
      screen.err(`the ${hasDashboard ? "dashboard" : "server"} is available again at ${url}/\n`),
    line: (place, text) =>
      screen.err(`${paint.dim(`${placeName(place)} |`)} ${showable(screen.isLive ? formatLogLine(text) : text)}\n`),
  };
}

function serverRows({ url, hasDashboard }: Listening): string[][] {
  return hasDashboard
    ? [["  dashboard", `${url}/`]]
    : [
        ["  API", `${url}/docs`],
        ["  note", NO_DASHBOARD],
      ];
}
