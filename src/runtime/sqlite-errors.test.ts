import { describe, expect, it } from "vitest";
import { TrawlError } from "../errors.ts";
import { openDatabase } from "./sqlite.ts";
import { type SqliteFile, toFileError, withFileErrors } from "./sqlite-errors.ts";

const STORE: SqliteFile = { what: "store", path: "/somewhere/store.db", unreachable: "STORE_UNREACHABLE" };

describe("errors of a SQLite file", () => {
  it("report a full disk", () => {
    const db = openDatabase(":memory:", { durability: "normal", busyMs: 0, pageBytes: 4096 });
    db.exec("CREATE TABLE t (b); PRAGMA max_page_count = 3");

    const write = () => withFileErrors(STORE, "store.write", () => db.exec("INSERT INTO t VALUES (zeroblob(99999))"));

    expect(write).toThrow(
      expect.objectContaining({
        code: "STORE_UNREACHABLE",
        op: "store.write",
        message: expect.stringMatching(/^store \/somewhere\/store\.db: .*disk is full: free some space/),
        detail: { path: "/somewhere/store.db" },
      }),
    );
    db.close();
  });

  it.each(["EACCES", "EROFS", "ENOSPC", "ENOTDIR"])("have the code STORE_UNREACHABLE for %s", (code) => {
    const cause = Object.assign(new Error(`${code}: mkdir`), { code });

    expect(toFileError(STORE, "store.open", cause)).toMatchObject({ code: "STORE_UNREACHABLE", cause });
  });

  it("recognize an extended code of a read-only file by its low byte", () => {
    const cause = Object.assign(new Error("attempt to write a readonly database"), {
      code: "ERR_SQLITE_ERROR",
      errcode: 1032,
    });

    expect(toFileError(STORE, "store.write", cause)).toMatchObject({
      message: expect.stringMatching(/read-only: grant this user write access/),
    });
  });

  it("are the original error for bugs and for errors that already have a code", () => {
    const bugs = [
      new TypeError("undefined is not a function"),
      new TrawlError("STORE_SCHEMA", { op: "store.open", message: "newer" }),
      Object.assign(new Error("no such table: t"), { code: "ERR_SQLITE_ERROR", errcode: 1 }),
    ];

    for (const bug of bugs) expect(toFileError(STORE, "store.open", bug)).toBe(bug);
  });
});
