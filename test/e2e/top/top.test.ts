/** Tests `trawl top` in a real terminal, in a pipe and as JSON. */
import { describe, expect, it } from "vitest";
import { lastJson } from "../cli.ts";
import { newFleet } from "../fleet/fleet.ts";
import { PTY_OBSTACLE, startInPty } from "./pty.ts";

const SQLITE = { fresh: async () => ({}), missing: {} };
/** Shows the cursor and leaves the alternate screen. */
const RESTORED = "\x1b[?25h\x1b[?1049l";
/** The terminal reads whole lines and echoes them. */
const COOKED = /(?<!-)icanon[\s\S]*(?<!-)echo\b/;

describe("trawl top", () => {
  it("prints one snapshot in a pipe, and the same as JSON, from a broker and from a server", async () => {
    const fleet = await newFleet(SQLITE);
    const { id } = await fleet.submit(["http://127.0.0.1:9/", "--name", "a\x1b[2J\u202eshop"]);
    const serve = fleet.start(["serve", "--port", "0", "--json"]);
    await serve.prints(/"url"/);
    const { url } = JSON.parse(serve.output().stdout) as { url: string };

    const [plain, json, remote] = await Promise.all([
      fleet.run(["top"]),
      fleet.run(["top", "--once", "--json"]),
      fleet.run(["top", "--once", "--json", "--api", url]),
    ]);
    expect(plain, plain.stderr).toMatchObject({ code: 0, stderr: "" });
    expect(plain.stdout).toMatch(/JOBS[\s\S]*running .*a\\u001b\[2J\\u202eshop\n/);
    expect(plain.stdout).toMatch(/SITES[\s\S]*127\.0\.0\.1:9\n[\s\S]*no workers; start them/);
    expect(Math.max(...plain.stdout.split("\n").map(({ length }) => length))).toBeLessThanOrEqual(80);
    for (const end of [json, remote]) {
      expect(lastJson(end)).toMatchObject({
        totals: { waiting: 1, workers: 0, inFlight: 0 },
        jobs: [{ id, state: "running" }],
        queues: [{ queue: "fetch", waiting: 1, workers: 0 }],
        sites: [{ site: "127.0.0.1:9", waiting: 1 }],
        workers: [],
      });
    }
    const once = { env: { TRAWL_API_TRIES: "1" } };
    const [tooOften, unreachable] = await Promise.all([
      fleet.run(["top", "--interval", "1ms"]),
      fleet.run(["top", "--api", "http://127.0.0.1:9"], once),
    ]);
    expect([tooOften.code, unreachable.code]).toEqual([2, 3]);
  });

  it.skipIf(PTY_OBSTACLE !== undefined)(
    "draws on the alternate screen, reacts to keys, survives the loss of its server, and restores the screen",
    async () => {
      const fleet = await newFleet(SQLITE);
      const { id } = await fleet.submit(["http://127.0.0.1:9/", "--name", "shop"]);
      const start = async (port: string) => {
        const serve = fleet.start(["serve", "--port", port, "--json"]);
        await serve.prints(/"url"/);
        return { serve, url: (JSON.parse(serve.output().stdout) as { url: string }).url };
      };
      const { serve, url } = await start("0");
      const top = startInPty(["top", "--api", url, "--interval", "200ms"], { cwd: fleet.cwd, columns: 80, rows: 24 });

      expect(await top.shows(/▸ .*running.*shop[\s\S]*q quit/), top.screen().join("\n")).toBe(true);
      expect(top.screen()).toHaveLength(24);
      top.type("p");
      expect(await top.shows(new RegExp(`pause job ${id} \\(shop\\)\\? Press y to confirm`))).toBe(true);
      top.type("y");
      expect(await top.shows(/▸ .*paused.*shop/)).toBe(true);
      expect(await fleet.job(id)).toMatchObject({ state: "paused" });

      serve.kill("SIGKILL");
      expect(await top.shows(/API_UNREACHABLE/)).toBe(true);
      await start(new URL(url).port);
      expect(await top.shows(/^trawl top {2}\d\d:\d\d:\d\d UTC/)).toBe(true);

      top.type("j");
      top.resize(40, 10);
      expect(await top.shows(/^(?:.{0,40}\n){9}q quit.{0,34}$/u), top.screen().join("\n")).toBe(true);
      top.type("q");
      const output = await top.ended;
      expect(output).toContain(RESTORED);
      expect(output).toContain("code=0");
      expect(output).toMatch(COOKED);

      const killed = startInPty(["top", "--api", url], { cwd: fleet.cwd, columns: 100, rows: 30 });
      expect(await killed.shows(/▸ .*paused.*shop/)).toBe(true);
      killed.signal("SIGTERM");
      const last = await killed.ended;
      expect(last).toContain(RESTORED);
      expect(last).toMatch(COOKED);
      expect(last).toContain("code=0");
    },
  );
});
