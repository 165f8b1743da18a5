import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { it } from "vitest";

it("passes, and leaves a process behind that has another environment", () => {
  spawn("sleep", ["300"], { detached: true, stdio: "ignore", cwd: tmpdir(), env: { PATH: process.env.PATH } }).unref();
});
