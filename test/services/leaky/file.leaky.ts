import { spawn } from "node:child_process";
import { it } from "vitest";

it("passes, and leaves a process behind", () => {
  spawn("sleep", ["300"], { detached: true, stdio: "ignore" }).unref();
});
