import { type ErrorCode, isTrawlError, TrawlError } from "../errors.ts";

/** A SQLite file as its errors name it. */
export type NamedFile = { what: "broker" | "store"; path: string; unreachable: ErrorCode };

/** SQLite's complaints that speak of the file or its disk, and not of a bug of ours, and what to do about each. */
const COMPLAINTS: readonly { code: number; words: string; fix: string }[] = [
  { code: 3, words: "access permission denied", fix: "give this user the right to read and write it" },
  {
    code: 5,
    words: "database is locked",
    fix: "another process held it too long: end that process, or raise the time to wait",
  },
  {
    code: 8,
    words: "attempt to write a readonly database",
    fix: "it is read-only: give this user the right to write it and its folder",
  },
  { code: 10, words: "disk I/O error", fix: "reading or writing failed: check the disk, its space and its mount" },
  {
    code: 11,
    words: "database disk image is malformed",
    fix: "the file is damaged: restore a copy, or name another file",
  },
  {
    code: 13,
    words: "database or disk is full",
    fix: "the disk is full: free some space, then go on where you were",
  },
  {
    code: 14,
    words: "unable to open database file",
    fix: "make sure it is a file, not a folder, that this user may create and write",
  },
  { code: 15, words: "locking protocol", fix: "its disk does not lock files reliably: move it to a local disk" },
  { code: 26, words: "file is not a database", fix: "it is not an SQLite file: name another file" },
];

const SYSTEM_FIXES: Readonly<Record<string, string>> = {
  EACCES: "give this user the right to write its folder",
  EPERM: "give this user the right to write its folder",
  EROFS: "its disk is mounted read-only: name a file elsewhere",
  ENOSPC: "the disk is full: free some space, then go on where you were",
  EDQUOT: "this user's share of the disk is used up: free some space",
  EEXIST: "a part of its path is a file, not a folder: name another path",
  ENOTDIR: "a part of its path is a file, not a folder: name another path",
  ENOENT: "its folder cannot be made there: name another path",
  ENAMETOOLONG: "the path is too long: name a shorter one",
  EMFILE: "this process has too many files open: raise the limit (ulimit -n)",
};

/** Runs `work` on a file; trouble with the file comes out coded, bugs as they are. */
export function withFileErrors<T>(file: NamedFile, op: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw fileFailure(file, op, cause);
  }
}

/** The error to throw for `cause`: coded, with the path and the fix, where it is the file's or the disk's doing. */
export function fileFailure({ what, path, unreachable }: NamedFile, op: string, cause: unknown): unknown {
  if (isTrawlError(cause)) return cause;
  const fix = findFix(cause);
  if (fix === undefined) return cause;
  const words = cause instanceof Error ? cause.message : String(cause);
  const message = `${what} ${path}: ${words}; ${fix}`;
  return new TrawlError(unreachable, { op, message, detail: { path }, cause });
}

function findFix(cause: unknown): string | undefined {
  if (!(cause instanceof Error) || !("code" in cause)) return undefined;
  if (cause.code !== "ERR_SQLITE_ERROR") return SYSTEM_FIXES[String(cause.code)];
  // The low byte of an SQLite code says what kind, the rest says which of them. One driver leaves the code out where a
  // query fails half-way: then SQLite's fixed words are all there is.
  const code = "errcode" in cause ? Number(cause.errcode) & 0xff : undefined;
  return COMPLAINTS.find((known) => (code === undefined ? cause.message.includes(known.words) : code === known.code))
    ?.fix;
}
