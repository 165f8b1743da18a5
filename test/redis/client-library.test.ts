import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";

/**
 * `class X extends String`, anywhere in a process, leaves String.prototype in V8's slow mode for good, and then every
 * `charCodeAt` of optimised code is a generic lookup: a crawl took 22 % more CPU with ioredis 6, which does that, merely
 * loaded. Nothing shows it but this.
 */
it("the client library leaves String.prototype as quick as it was", () => {
  const program = 'await import("ioredis"); console.log(%HasFastProperties(String.prototype))';
  const flags = ["--allow-natives-syntax", "--input-type=module", "--eval", program];

  expect(execFileSync(process.execPath, flags, { encoding: "utf8", cwd: import.meta.dirname }).trim()).toBe("true");
});
