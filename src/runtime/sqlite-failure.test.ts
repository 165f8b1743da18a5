import { describe, expect, it } from "vitest";
import { TrawlError } from "../errors.ts";
import { openDatabase } from "./sqlite.ts";
import { fileFailure, type NamedFile, withFileErrors } from "./sqlite-failure.ts";

const STORE: NamedFile = { what: "store", path: "/somewhere/store.db", unreachable: "STORE_UNREACHABLE" };

describe("trouble with a SQLite file", () => {
  it("says that the disk is full when SQLite finds no room", () => {
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

  it.each(["EACCES", "EROFS", "ENOSPC", "ENOTDIR"])("is coded when the system says %s", (code) => {
    const cause = Object.assign(new Error(`${code}: mkdir`), { code });

    expect(fileFailure(STORE, "store.open", cause)).toMatchObject({ code: "STORE_UNREACHABLE", cause });
  });

  it("knows read-only extended codes by their low byte", () => {
    const cause = Object.assign(new Error("attempt to write a readonly database"), {
      code: "ERR_SQLITE_ERROR",
      errcode: 1032,
    });

    expect(fileFailure(STORE, "store.write", cause)).toMatchObject({
      message: expect.stringMatching(/read-only: give this user the right/),
    });
  });

  it("leaves bugs and coded errors as they are", () => {
    const bugs = [
      new TypeError("undefined is not a function"),
      new TrawlError("STORE_SCHEMA", { op: "store.open", message: "newer" }),
      Object.assign(new Error("no such table: t"), { code: "ERR_SQLITE_ERROR", errcode: 1 }),
    ];

    for (const bug of bugs) expect(fileFailure(STORE, "store.open", bug)).toBe(bug);
  });
});
