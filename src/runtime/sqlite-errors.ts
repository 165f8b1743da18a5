import { type ErrorCode, isTrawlError, TrawlError } from "../errors.ts";

/** A SQLite file, as named in error messages. */
export type SqliteFile = { what: "broker" | "store"; path: string; unreachable: ErrorCode };

/** Runs `work` on a file. The promise rejects with the errors that `withFileErrors` throws. */
export type RunOnFile = <T>(op: string, work: () => T) => Promise<T>;

/** The SQLite errors that the file or its disk can cause, with the fix for each. Other SQLite errors are bugs. */
const FILE_ERRORS: readonly { code: number; message: string; fix: string }[] = [
  { code: 3, message: "access permission denied", fix: "grant this user read and write access" },
  {
    code: 5,
    message: "database is locked",
    fix: "another process held the lock too long: stop that process, or raise the busy timeout",
  },
  {
    code: 8,
    message: "attempt to write a readonly database",
    fix: "the file is read-only: grant this user write access to the file and its folder",
  },
  {
    code: 10,
    message: "disk I/O error",
    fix: "reading or writing failed: check the disk, its free space and its mount",
  },
  {
    code: 11,
    message: "database disk image is malformed",
    fix: "the file is corrupt: restore a backup, or set another file",
  },
  {
    code: 13,
    message: "database or disk is full",
    fix: "the disk is full: free some space, then retry",
  },
  {
    code: 14,
    message: "unable to open database file",
    fix: "check that the path is not a folder, and that this user may create and write the file",
  },
  {
    code: 15,
    message: "locking protocol",
    fix: "the filesystem does not support file locks: move the file to a local disk",
  },
  { code: 26, message: "file is not a database", fix: "this is not a SQLite file: set another file" },
];

const SYSTEM_FIXES: Readonly<Record<string, string>> = {
  EACCES: "grant this user write access to its folder",
  EPERM: "grant this user write access to its folder",
  EROFS: "its disk is mounted read-only: set a path on another disk",
  ENOSPC: "the disk is full: free some space, then retry",
  EDQUOT: "the disk quota of this user is exceeded: free some space",
  EEXIST: "a part of its path is a file, not a folder: set another path",
  ENOTDIR: "a part of its path is a file, not a folder: set another path",
  ENOENT: "its folder cannot be created: set another path",
  ENAMETOOLONG: "the path is too long: set a shorter one",
  EMFILE: "this process has too many files open: raise the limit (ulimit -n)",
};

/** Runs `work` on a file. Throws errors of the file or its disk with a code, and other errors unchanged. */
export function withFileErrors<T>(file: SqliteFile, op: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw toFileError(file, op, cause);
  }
}

/** The error to throw for `cause`: with code, path and fix if the file or its disk caused it, otherwise `cause`. */
export function toFileError({ what, path, unreachable }: SqliteFile, op: string, cause: unknown): unknown {
  if (isTrawlError(cause)) return cause;
  const fix = findFix(cause);
  if (fix === undefined) return cause;
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = `${what} ${path}: ${reason}; ${fix}`;
  return new TrawlError(unreachable, { op, message, detail: { path }, cause });
}

function findFix(cause: unknown): string | undefined {
  if (!(cause instanceof Error) || !("code" in cause)) return undefined;
  if (cause.code !== "ERR_SQLITE_ERROR") return SYSTEM_FIXES[String(cause.code)];
  // The low byte of an SQLite code is the primary code; the higher bytes are the extended code. One driver omits the
  // code if an error occurs while a query returns rows. Then the fixed message of SQLite identifies the error.
  const code = "errcode" in cause ? Number(cause.errcode) & 0xff : undefined;
  return FILE_ERRORS.find(({ message, ...known }) =>
    code === undefined ? cause.message.includes(message) : code === known.code,
  )?.fix;
}
