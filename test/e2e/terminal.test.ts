/** Words from elsewhere reach a person's terminal with nothing in them that it would obey. */
import { describe, expect, it } from "vitest";
import { type CliEnd, jsonLines, lastJson, trawl } from "./cli.ts";
import { newFolder } from "./folder.ts";
import { originOf } from "./sites.ts";

/** Clears the screen, three ways round; begins a line of its own; turns what follows. */
const NASTY = "a\x1b[2Jb\x9b2Jc\x07\rd\ntrawl: all is well\u202ee";
/** All that a terminal is sent where no colour was asked for: letters and line ends. */
const OBEYED = /[^\P{Cc}\n]|\p{Bidi_Control}/u;

function expectHarmless({ stdout, stderr }: CliEnd, shows: RegExp): void {
  const text = stdout + stderr;
  expect(text).toMatch(shows);
  expect(text).not.toMatch(OBEYED);
  expect(text).not.toMatch(/^trawl: all is well/m);
}

describe("words from elsewhere", () => {
  it("in a job's name, its refused lines and what is typed do not reach the terminal raw", async () => {
    const cwd = newFolder();
    const run = (...args: string[]) => trawl(args, { cwd, input: `http://127.0.0.1:9/\n${NASTY}\n` });
    expectHarmless(await run("submit", "-", "--name", NASTY), /job j\w+ {2}a\\u001b\[2Jb[\s\S]*refused, by/);
    const { jobs } = lastJson<{ jobs: { id: string; name: string }[] }>(await run("jobs", "--json"));
    const [{ id, name } = { id: "", name: "" }] = jobs;

    expect(name).toBe(NASTY);
    expectHarmless(await run("jobs"), /\\u001b/);
    expectHarmless(await run("job", id), /\\u001b/);
    expectHarmless(await run("job", NASTY), /NOT_FOUND: .*\\u001b/);
    expectHarmless(await run("explain", NASTY), /\\u001b/);
    expectHarmless(await run("submit", NASTY), /BAD_URL: .*\\u009b/);
    expectHarmless(await run("jobs", NASTY), /BAD_USAGE/);
    expectHarmless(await run(NASTY), /BAD_USAGE: .*\\u001b/);
  });

  it("in pages do not reach the terminal raw, and records keep them as they are", async () => {
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
