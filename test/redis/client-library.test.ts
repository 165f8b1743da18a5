import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";

/**
 * `class X extends String` anywhere in a process puts String.prototype into V8's slow mode permanently, and then every
 * `charCodeAt` of optimised code is a generic lookup. A crawl took 22 % more CPU just because ioredis 6, which does
 * that, was loaded. No other test would notice.
 */
it("the client library keeps String.prototype in fast mode", () => {
  const program = 'await import("ioredis"); console.log(%HasFastProperties(String.prototype))';
  const flags = ["--allow-natives-syntax", "--input-type=module", "--eval", program];

  expect(execFileSync(process.execPath, flags, { encoding: "utf8", cwd: import.meta.dirname }).trim()).toBe("true");
});
