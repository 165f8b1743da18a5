/** What `trawl up` tells on stderr beside what its processes do: how it begins and ends, and who has said a line. */
import { shownPlace } from "../../config/place.ts";
import type { Config } from "../../config/schema.ts";
import { plural } from "../../domain/counted.ts";
import { formatDuration } from "../../domain/duration.ts";
import { createLog } from "../../runtime/log.ts";
import { showable } from "../../runtime/showable.ts";
import type { Place } from "../../worker/pool/supervisor.ts";
import { inWords, linesTo } from "../log-lines.ts";
import { type Listening, NO_DASHBOARD } from "../serve/run-server.ts";
import { type Screen, table } from "../terminal.ts";
import { placeName } from "../worker/pool-voice.ts";
import type { UpGroup } from "./groups.ts";

export type UpVoice = {
  /** `at`: of the server, if there is one. */
  started(groups: readonly UpGroup[], at: Listening | undefined): void;
  /** The server has another in its place. */
  back(at: Listening): void;
  /** A line that a process has printed by itself. */
  line(place: Place, text: string): void;
};

export function createUpVoice(screen: Screen, config: Config, isJson: boolean): UpVoice {
  return isJson ? jsonVoice(screen, config) : plainVoice(screen, config);
}

/** As it goes into JSON: what is started is nobody's concern. */
export function groupFields({ name, processes }: UpGroup) {
  return { name, queues: [name], processes };
}

function jsonVoice(screen: Screen, { broker, store }: Config): UpVoice {
  const log = createLog("info", screen.err);
  return {
    started: (groups, at) =>
      log.info("up.started", {
        ...(at === undefined ? {} : { url: at.url }),
        groups: groups.map(groupFields),
        broker: shownPlace(broker),
        store: shownPlace(store),
      }),
    back: ({ url }) => log.info("up.server_back", { url }),
    line: linesTo(screen, true),
  };
}

function plainVoice(screen: Screen, config: Config): UpVoice {
  const { paint } = screen;
  return {
    started(groups, at) {
      const rows = [
        ...(at === undefined ? [] : serverRows(at)),
        ...groups.map(({ name, processes }) => [`  ${name}`, plural(processes, "process", "processes")]),
        ["  broker", shownPlace(config.broker)],
        ["  store", shownPlace(config.store)],
        ["  stop", `Ctrl-C: what runs gets ${formatDuration(config.graceMs)} to finish`],
      ];
      screen.err(`${paint.bold("up")}\n${table(rows)}`);
    },
    back: ({ url, hasDashboard }) => screen.err(`the ${hasDashboard ? "dashboard" : "server"} is back at ${url}/\n`),
    line: (place, text) =>
      screen.err(`${paint.dim(`${placeName(place)} |`)} ${showable(screen.isLive ? inWords(text) : text)}\n`),
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
