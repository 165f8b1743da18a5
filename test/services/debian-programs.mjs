// Fetches servers for tests from Debian's packages. They are unpacked into node_modules/.cache, not installed: that
// needs no root, starts no daemon, and leaves the packages of the machine as they are.
import { spawnSync } from "node:child_process";
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const UNPACKED = fileURLToPath(new URL("../../node_modules/.cache/debian", import.meta.url));

/** The packages of each program. */
const PACKAGES = {
  "redis-server": ["redis-server", "redis-tools"],
  "valkey-server": ["valkey-server", "valkey-tools"],
  // Python modules, which swift/serve.py runs as an S3 server.
  swift: [
    ...[
      "python3-swift",
      "python3-eventlet",
      "python3-greenlet",
      "python3-dnspython",
      "python3-six",
      "python3-netifaces",
    ],
    ...["python3-cryptography", "python3-openssl", "python3-cffi", "python3-cffi-backend", "python3-pastedeploy"],
    ...["python3-pkg-resources", "python3-pyeclib", "liberasurecode1", "python3-xattr", "python3-lxml"],
    ...["python3-requests", "python3-urllib3", "python3-idna", "python3-certifi", "python3-chardet"],
    ...["python3-charset-normalizer"],
  ],
};
/** apt finds the packages of PostgreSQL: their names contain its version, and it needs many libraries. */
const POSTGRES = "postgresql";
/** Libraries that the programs need and a minimal system lacks. */
const LIBRARIES = ["libatomic1", "libjemalloc2", "liblzf1"];
const SWIFT_LIBRARIES = ["libxml2", "libxslt1.1", "libicu72"];

/** Debian's Python: its modules are built for this version. A python3 in the PATH may be another one. */
const PYTHON = "/usr/bin/python3";
const PYTHON_MODULES = "usr/lib/python3/dist-packages";

/** How to run a program, installed or fetched; undefined if there is none. Takes microseconds. */
export function findProgram(name) {
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    if (isExecutable(join(folder, name))) return { command: join(folder, name), env: {} };
  }
  const root = join(UNPACKED, name);
  const command = join(root, "usr/bin", name);
  return isExecutable(command) ? { command, env: { LD_LIBRARY_PATH: findLibraries(root) } } : undefined;
}

/** The newest installed PostgreSQL, or the fetched one; undefined if there is none. On Debian it is not in the PATH. */
export function findPostgres() {
  const own = join(UNPACKED, POSTGRES);
  for (const [base, root] of [
    ["/", undefined],
    [own, own],
  ]) {
    const bin = postgresFolder(base);
    if (bin !== undefined)
      return { bin, root, env: root === undefined ? {} : { LD_LIBRARY_PATH: findLibraries(root) } };
  }
  return undefined;
}

/** The folder below `base` with `postgres` and `initdb`. */
function postgresFolder(base) {
  const versions = join(base, "usr/lib/postgresql");
  const newestFirst = existsSync(versions) ? readdirSync(versions).sort((a, b) => Number(b) - Number(a)) : [];
  return newestFirst
    .map((version) => join(versions, version, "bin"))
    .find((bin) => ["postgres", "initdb"].every((name) => isExecutable(join(bin, name))));
}

/** How to run Python with the fetched modules of Swift only; undefined if it cannot be run. */
export function findSwift(root = join(UNPACKED, "swift")) {
  const modules = join(root, PYTHON_MODULES);
  if (!isExecutable(PYTHON) || !existsSync(join(modules, "swift"))) return undefined;
  const env = { PYTHONPATH: modules, PYTHONDONTWRITEBYTECODE: "1", LD_LIBRARY_PATH: findLibraries(root) };
  return { command: PYTHON, args: ["-S"], env };
}

/** Fetches missing programs. Returns those that could not be fetched, each with the reason. */
export function ensurePrograms(names = [...Object.keys(PACKAGES), POSTGRES]) {
  const obstacles = [];
  for (const name of names.filter((wanted) => !isAvailable(wanted))) {
    console.error(`Fetching ${name} for the tests …`);
    const because = name === POSTGRES ? fetchPostgres() : fetchProgram(name);
    if (because !== undefined) obstacles.push({ name, because });
  }
  return obstacles;
}

/** Whether tests can start the program. */
export function isAvailable(name) {
  const finders = { swift: () => findSwift(), [POSTGRES]: findPostgres };
  return (finders[name] ?? findProgram)(name) !== undefined;
}

/** Returns undefined, or why the program could not be fetched. */
function fetchProgram(name) {
  if (spawnSync("apt-get", ["--version"]).status !== 0) return "this system has no apt-get";
  mkdirSync(UNPACKED, { recursive: true });
  const area = mkdtempSync(join(UNPACKED, ".fetching-"));
  try {
    if (!unpack(PACKAGES[name], area)) return "apt-get has no such package, or cannot reach its source";
    const root = join(area, "root");
    const libraries = name === "swift" ? SWIFT_LIBRARIES : LIBRARIES;
    if (!runs(name, root) && !(unpack(libraries, area) && runs(name, root))) return "it does not run on this system";
    // The folder is complete or missing. If two test runs fetch at once, the later one replaces equal files.
    rmSync(join(UNPACKED, name), { recursive: true, force: true });
    renameSync(root, join(UNPACKED, name));
    return undefined;
  } finally {
    rmSync(area, { recursive: true, force: true });
  }
}

/** Returns undefined, or why the program could not be fetched. */
function fetchPostgres() {
  if (spawnSync("apt-get", ["--version"]).status !== 0) return "this system has no apt-get";
  mkdirSync(UNPACKED, { recursive: true });
  const area = mkdtempSync(join(UNPACKED, ".fetching-"));
  try {
    if (!unpackPostgres([], area) && !unpackPostgres(freshLists(area), area)) {
      return "apt-get has no such package, or cannot reach its source";
    }
    const root = join(area, "root");
    const bin = postgresFolder(root);
    const env = { ...process.env, LD_LIBRARY_PATH: findLibraries(root) };
    const run = (name) => spawnSync(join(bin, name), ["--version"], { env }).status === 0;
    if (bin === undefined || !run("postgres") || !run("initdb")) return "it does not run on this system";
    rmSync(join(UNPACKED, POSTGRES), { recursive: true, force: true });
    renameSync(root, join(UNPACKED, POSTGRES));
    return undefined;
  } finally {
    rmSync(area, { recursive: true, force: true });
  }
}

/** Also unpacks the libraries that this system lacks, except the C library, which every system has, and compilers. */
function unpackPostgres(flags, area) {
  const outputOf = (program, ...rest) => spawnSync(program, [...flags, ...rest], { encoding: "utf8" }).stdout ?? "";
  const name = /^\s*Depends: (postgresql-\d+)$/m.exec(outputOf("apt-cache", "depends", "postgresql"))?.[1];
  if (name === undefined) return false;
  const plan = outputOf("apt-get", "--simulate", "--no-install-recommends", "install", name);
  const libraries = [...plan.matchAll(/^Inst (lib\S+)/gm)].map(([, library]) => library);
  const folder = mkdtempSync(join(area, "packages-"));
  const wanted = libraries.filter((library) => !/^lib(c6|c-bin|llvm|perl|python)|-dev$/.test(library));
  return aptGet(flags, folder, "download", name, ...wanted) && extractAll(folder, area);
}

function freshLists(area) {
  const own = listsIn(join(area, "lists"));
  aptGet(own, area, "update"); // if it fails, the download fails next
  return own;
}

function unpack(packages, area) {
  const folder = mkdtempSync(join(area, "packages-"));
  return download(packages, folder, area) && extractAll(folder, area);
}

function extractAll(folder, area) {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".deb"))
    .every((file) => spawnSync("dpkg", ["--extract", join(folder, file), join(area, "root")]).status === 0);
}

/** Downloads from the system's sources or, if that fails, from the backports of its release in the same repository. */
function download(packages, folder, area) {
  if (aptGet([], folder, "download", ...packages)) return true;
  const own = mainRepository([]) === undefined ? listsIn(join(area, "lists")) : [];
  if (own.length > 0 && aptGet(own, folder, "update") && aptGet(own, folder, "download", ...packages)) return true;
  const repository = mainRepository(own);
  if (repository === undefined) return false;
  const sources = join(area, "backports.list");
  writeFileSync(sources, `deb ${repository} ${codename()}-backports main\n`);
  const backports = [
    ...listsIn(join(area, "backports-lists")),
    ...["-o", `Dir::Etc::sourcelist=${sources}`, "-o", "Dir::Etc::sourceparts=-"],
  ];
  return aptGet(backports, folder, "update") && aptGet(backports, folder, "download", ...packages);
}

/** Options for separate package lists: those of the system may be empty, and only root can update them. */
function listsIn(folder) {
  mkdirSync(join(folder, "lists/partial"), { recursive: true });
  mkdirSync(join(folder, "cache/archives/partial"), { recursive: true });
  return ["-o", `Dir::State::lists=${folder}/lists`, "-o", `Dir::Cache=${folder}/cache`];
}

/** The repository of this release; undefined if the system has no package lists. */
function mainRepository(flags) {
  const format = ["--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)"];
  const { stdout } = spawnSync("apt-get", [...flags, "indextargets", ...format, "Created-By: Packages"], {
    encoding: "utf8",
  });
  const wanted = new RegExp(`^(\\S+) ${codename()} main$`, "m");
  return wanted.exec(stdout)?.[1];
}

function codename() {
  return /^VERSION_CODENAME=(\w+)$/m.exec(readFileSync("/etc/os-release", "utf8"))?.[1] ?? "stable";
}

function aptGet(flags, cwd, ...args) {
  // No output: every failure is retried with another source or reported.
  return spawnSync("apt-get", ["--quiet", ...flags, ...args], { cwd, stdio: "ignore" }).status === 0;
}

function runs(name, root) {
  if (name === "swift") {
    const found = findSwift(root);
    const args = [...(found?.args ?? []), "-c", "import lxml.etree, swift.common.middleware.s3api.s3api"];
    return (
      found !== undefined && spawnSync(found.command, args, { env: { ...process.env, ...found.env } }).status === 0
    );
  }
  const env = { ...process.env, LD_LIBRARY_PATH: findLibraries(root) };
  return spawnSync(join(root, "usr/bin", name), ["--version"], { env }).status === 0;
}

/** The folders below `root` with shared libraries, in the format of LD_LIBRARY_PATH. */
function findLibraries(root) {
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((file) => /\.so\.\d+$/.test(file));
  return [...new Set(files.map((file) => join(root, dirname(file))))].join(":");
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false; // not there
  }
}
