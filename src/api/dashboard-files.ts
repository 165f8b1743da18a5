/**
 * The files of the dashboard build. All files are read on first use and stay in memory, so that a browser gets files of
 * one build even if a new build replaces them on disk.
 */
import { hash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";

/** Content encodings and their file endings, in order of preference. */
const CODINGS = { br: ".br", gzip: ".gz" } as const;
type Coding = keyof typeof CODINGS;

export type DashboardFile = {
  type: string;
  etag: string;
  plain: Uint8Array;
  /** Compressed by the build. Missing if compression does not make the file smaller. */
  packed: Partial<Record<Coding, Uint8Array>>;
};

export type DashboardFiles = ReadonlyMap<string, DashboardFile>;

export const PAGE = "index.html";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Files by path, such as `assets/app-1a2b.js`. Undefined if there is no build. */
export function readDashboard(folder: string): DashboardFiles | undefined {
  const names = namesIn(folder);
  if (!names.includes(PAGE)) return undefined;
  const read = (name: string) => readFileSync(join(folder, name));
  const packedOf = (name: string) =>
    Object.entries(CODINGS)
      .filter(([, ending]) => names.includes(name + ending))
      .map(([coding, ending]) => [coding, read(name + ending)]);
  return new Map(
    names.flatMap((name): [string, DashboardFile][] => {
      const type = TYPES[extname(name)];
      if (type === undefined) return [];
      const plain = read(name);
      // A weak ETag: it is the same for all encodings.
      const etag = `W/"${hash("sha256", plain, "base64url").slice(0, 22)}"`;
      return [[name.replaceAll("\\", "/"), { type, etag, plain, packed: Object.fromEntries(packedOf(name)) }]];
    }),
  );
}

/** The bytes of a file in the preferred encoding that the client accepts. */
export function packedFor({ plain, packed }: DashboardFile, acceptEncoding: string) {
  const accepted = acceptEncoding
    .toLowerCase()
    .split(",")
    .filter((part) => !/;\s*q=0(\.0*)?\s*$/.test(part))
    .map((part) => part.split(";", 1)[0]?.trim());
  const coding = (Object.keys(CODINGS) as Coding[]).find((name) => accepted.includes(name) && packed[name]);
  return { coding, bytes: (coding === undefined ? undefined : packed[coding]) ?? plain };
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: "utf8" });
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return [];
    throw error;
  }
}
