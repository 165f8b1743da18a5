/** Untrusted text is printed to the terminal without control characters. */
import { describe, expect, it } from "vitest";
import { type CliEnd, jsonLines, lastJson, trawl } from "./cli.ts";
import { newFolder } from "./folder.ts";
import { originOf } from "./sites.ts";

/**
 * Contains escape sequences that clear the screen, a line break that forges a message, and a change of text direction.
 */
const UNTRUSTED = "a\x1b[2Jb\x9b2Jc\x07\rd\ntrawl: all is well\u202ee";
/** Characters that a terminal interprets, except line breaks. Without colour, no output may contain them. */
const CONTROL = /[^\P{Cc}\n]|\p{Bidi_Control}/u;

function expectHarmless({ stdout, stderr }: CliEnd, expected: RegExp): void {
  const text = stdout + stderr;
  expect(text).toMatch(expected);
  expect(text).not.toMatch(CONTROL);
  expect(text).not.toMatch(/^trawl: all is well/m);
}

describe("untrusted text", () => {
  it("in job names, refused lines and arguments is escaped on the terminal", async () => {
    const cwd = newFolder();
    const run = (...args: string[]) => trawl(args, { cwd, input: `http://127.0.0.1:9/\n${UNTRUSTED}\n` });
    expectHarmless(await run("submit", "-", "--name", UNTRUSTED), /job j\w+ {2}a\\u001b\[2Jb[\s\S]*refused URLs, with/);
    const { jobs } = lastJson<{ jobs: { id: string; name: string }[] }>(await run("jobs", "--json"));
    const [{ id, name } = { id: "", name: "" }] = jobs;

    expect(name).toBe(UNTRUSTED);
    expectHarmless(await run("jobs"), /\\u001b/);
    expectHarmless(await run("job", id), /\\u001b/);
    expectHarmless(await run("job", UNTRUSTED), /NOT_FOUND: .*\\u001b/);
    expectHarmless(await run("explain", UNTRUSTED), /\\u001b/);
    expectHarmless(await run("submit", UNTRUSTED), /BAD_URL: .*\\u009b/);
    expectHarmless(await run("jobs", UNTRUSTED), /BAD_USAGE/);
    expectHarmless(await run(UNTRUSTED), /BAD_USAGE: .*\\u001b/);
  });

  it("in pages is escaped on the terminal, and unchanged in records", async () => {
    const title = "a\x1b[2Jb\x9b2Jc\u202ed";
    const page = `<meta charset="utf-8"><h1>${title}</h1><a href="/x\u202e">x</a>`;
    const site = await originOf({ "/": page });
    const cwd = newFolder();
    const url = `${site.url}/`;

    expectHarmless(await trawl(["try", url, "-e", "title=h1"], { cwd }), /a\\u001b\[2Jb\\u009b2Jc\\u202ed/);
    const { stdout } = await trawl(["crawl", url, "--follow", "none", "-e", "title=h1", "--quiet"], { cwd });
    expect(jsonLines(stdout)).toMatchObject([{ title }]);
  });
});
