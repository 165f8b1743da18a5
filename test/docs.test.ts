import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { renderDocs } from "../scripts/render-docs.ts";
import { JOB_MOVES } from "../src/domain/job.ts";
import { TASK_MOVES } from "../src/domain/task.ts";
import { jobSchema } from "../src/submit/job-schema.ts";

describe("the docs", () => {
  it.each(Object.entries(renderDocs()))("contain in %s the text that npm run docs generates", (name, text) => {
    expect(readFileSync(new URL(`../docs/${name}`, import.meta.url), "utf8")).toBe(text);
  });

  it("list exactly the keys of a job in jobs.md", () => {
    const text = readFileSync(new URL("../docs/jobs.md", import.meta.url), "utf8");
    const [table = ""] = /\| key \|[\s\S]*?\n\n/.exec(text) ?? [];
    const listed = [...table.matchAll(/^\| `([\w.]+)`/gm)].map(([, key]) => key);

    expect(listed).toEqual(keysOf(jobSchema, ""));
  });

  it("have the same states in the SQL schema as in the state tables", () => {
    const sql = readFileSync(new URL("../src/frontier/sqlite/migrations/001-initial.sql", import.meta.url), "utf8");
    const [jobStates, taskStates] = [...sql.matchAll(/CHECK \(state IN \(([^)]*)\)\)/g)].map((match) =>
      (match[1] ?? "").split(",").map((state) => state.trim().replaceAll("'", "")),
    );

    expect(jobStates?.sort()).toEqual(Object.keys(JOB_MOVES).sort());
    // Only waiting and leased tasks have a row. Other tasks are only counted, or are dead letters.
    expect(taskStates?.sort()).toEqual(["delayed", "leased", "queued"]);
    expect(Object.keys(TASK_MOVES)).toEqual(expect.arrayContaining(taskStates ?? []));
  });
});

/** The keys of an object and of its nested objects: `follow`, `follow.links`, … */
function keysOf(schema: z.ZodObject, prefix: string): string[] {
  return Object.entries(schema.shape).flatMap(([key, field]) => {
    const inner = field instanceof z.ZodOptional ? field.unwrap() : field;
    return [prefix + key, ...(inner instanceof z.ZodObject ? keysOf(inner, `${prefix}${key}.`) : [])];
  });
}
