import { expect, it } from "vitest";
import { openNoBodies } from "./no-bodies.ts";

it("stores no body and finds none", async () => {
  const bodies = openNoBodies();

  expect(await bodies.put(Buffer.from("page"))).toBeUndefined();
  expect(await bodies.get(`sha256:${"0".repeat(64)}`)).toBeUndefined();
});
