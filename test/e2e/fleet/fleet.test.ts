import { describe, expect, it } from "vitest";
import { trawl } from "../cli.ts";
import { newFolder } from "../folder.ts";
import { describeFleet, describeFleetMessages } from "./describe-fleet.ts";
import type { FleetBroker } from "./fleet.ts";

const sqlite: FleetBroker = {
  fresh: async () => ({}), // each test has its own folder with a broker file
  missing: { TRAWL_BROKER: "sqlite:/dev/null/broker.db" },
};

describeFleet("SQLite", sqlite);
describeFleetMessages(sqlite);

describe("a broker URL with an unknown scheme", () => {
  it("is refused, and its password is not printed", async () => {
    const cwd = newFolder();
    for (const args of [["jobs"], ["doctor"], ["doctor", "--json"]]) {
      const end = await trawl(args, { cwd, env: { TRAWL_BROKER: "mongo://fleet:s3cret@127.0.0.1/" } });

      expect(end.code).toBe(args[0] === "doctor" ? 1 : 2);
      expect(end.stdout + end.stderr).toMatch(/TRAWL_BROKER is .*mongo:\/\/\*\*\*@127\.0\.0\.1/);
      expect(end.stdout + end.stderr).not.toContain("s3cret");
    }
  });
});
