/** Tests `trawl keys` with a server that requires keys, in separate processes. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { waitUntil } from "../services/wait-until.ts";
import { startTrawl, trawl } from "./cli.ts";
import { newFolder } from "./folder.ts";

const statusOf = async (url: string, key: string) =>
  (await fetch(`${url}/v1/jobs`, { headers: { authorization: `Bearer ${key}` } })).status;

describe("trawl keys", () => {
  it("creates a key that a running server requires, and revokes it", async () => {
    const cwd = newFolder();
    const server = startTrawl(["serve", "--port", "0", "--log-level", "debug"], { cwd });
    await server.prints(/listening on http/);
    const [, url = ""] = /listening on (http:\S+)/.exec(server.output().stderr) ?? [];
    expect((await fetch(`${url}/v1/jobs`)).status).toBe(200);
    const lockingOut = await trawl(["keys", "add", "reader", "--scopes", "read", "--api", url], { cwd });
    expect(lockingOut.stderr).toMatch(/BAD_USAGE: the first key must have --scopes admin/);

    const added = await trawl(["keys", "add", "ci", "--tenant", "acme", "--expires", "90d", "--max-jobs", "5"], {
      cwd,
    });
    const key = added.stdout.trim();
    expect(added.code).toBe(0);
    expect(key).toMatch(/^trawl_\S{43}$/);
    expect(await waitUntil(async () => (await fetch(`${url}/v1/jobs`)).status === 401, 20_000)).toBe(true);
    expect(await statusOf(url, key)).toBe(200);

    const listed = await trawl(["keys"], { cwd });
    expect(listed.stdout).toMatch(/ci +acme +read,submit +\S+( ago)? +expires in 90d, 5 jobs/);
    const { keys } = JSON.parse((await trawl(["keys", "list", "--json"], { cwd })).stdout);
    expect(keys).toMatchObject([{ name: "ci", tenant: "acme", quotas: { jobs: 5 }, state: "good" }]);

    expect((await trawl(["keys", "revoke", "ci"], { cwd })).code).toBe(0);
    expect(await waitUntil(async () => (await statusOf(url, key)) === 401, 20_000)).toBe(true);

    server.kill("SIGTERM");
    const { stdout, stderr } = await server.ended;
    // No log and no file contains the key.
    const files = readdirSync(join(cwd, ".trawl")).map((name) => readFileSync(join(cwd, ".trawl", name), "latin1"));
    for (const text of [stdout, stderr, listed.stdout, ...files]) expect(text).not.toContain(key);
  });

  it("is named by a server that refuses to listen on a public address without a key", async () => {
    const cwd = newFolder();

    const refused = await trawl(["serve", "--host", "0.0.0.0", "--port", "0"], { cwd });

    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(
      /BAD_CONFIG: TRAWL_API_HOST is 0\.0\.0\.0, and there are no API keys.*trawl keys add/,
    );
  });

  it.each([
    ["no name", ["keys", "add"], /a name is missing/],
    ["an unknown action", ["keys", "remove", "ci"], /unknown action remove; use list, add, revoke/],
    [
      "an unknown scope",
      ["keys", "add", "ci", "--scopes", "write"],
      /--scopes must be a comma-separated list of read, submit, admin/,
    ],
    ["admin of a tenant", ["keys", "add", "ci", "--scopes", "admin", "--tenant", "a"], /cannot have a tenant/],
    ["an invalid tenant name", ["keys", "add", "ci", "--tenant", "a/b"], /--tenant: "a\/b" is not a valid name/],
    ["an unknown key", ["keys", "revoke", "ci"], /NOT_FOUND: no key has the id or name ci/],
  ])("reports invalid arguments: %s", async (_, args, message) => {
    const { code, stderr } = await trawl(args, { cwd: newFolder() });

    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });
});
