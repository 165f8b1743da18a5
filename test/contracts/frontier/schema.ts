import { expect } from "vitest";
import type { Suite } from "./backend.ts";

/** A broker with an unsupported schema is refused and stays unchanged (F19). */
export function schema({ testWith }: Suite): void {
  testWith("versions", "F19 refuses a broker that a newer version has written", async ({ openNewer }) => {
    await expect(openNewer()).rejects.toMatchObject({
      code: "BROKER_SCHEMA",
      message: expect.stringContaining("pgrade"),
    });
  });

  testWith("versions", "F19 refuses an address that is not a broker", async ({ openDamaged }) => {
    await expect(openDamaged()).rejects.toMatchObject({ code: "BROKER_UNREACHABLE" });
  });
}
