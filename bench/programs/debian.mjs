/**
 * Finds programs of Debian packages, and fetches missing ones. They are unpacked into .bench/debian, not installed:
 * that needs no root, starts no daemon, and leaves the packages of the machine as they are.
 */
import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { BENCH_FOLDER } from "../harness/folders.mjs";

const UNPACKED = join(BENCH_FOLDER, "debian");
/** Folders with programs that the PATH of a user may lack. */
const SYSTEM_FOLDERS = ["/usr/sbin", "/usr/bin"];
/** Debian's Python: its modules are built for this version. A python3 in the PATH may be another one. */
const PYTHON = "/usr/bin/python3";
const PYTHON_MODULES = "usr/lib/python3/dist-packages";

/** Returns `{ command, env }`. Throws an error with the reason if the program cannot be fetched. */
export function ensureProgram(name, packageName = name) {
  const found = findInstalled(name) ?? findUnpacked(name, packageName);
  if (found !== undefined) return found;
  fetchPackage(packageName);
  const fetched = findUnpacked(name, packageName);
  if (fetched === undefined) throw new Error(`the Debian package ${packageName} has no program ${name}`);
  return fetched;
}

/** Returns `{ command, env }` of a Python that can import `module`. */
export function ensurePythonModule(module, packageName) {
  const candidates = [{}, pythonEnv(join(UNPACKED, packageName))];
  const find = () => candidates.find((env) => canImport(module, env));
  let env = find();
  if (env === undefined) {
    fetchPackage(packageName);
    env = find();
  }
  if (env === undefined) throw new Error(`${PYTHON} cannot import ${module} of the Debian package ${packageName}`);
  return { command: PYTHON, env };
}

function findInstalled(name) {
  const folders = [...(process.env.PATH ?? "").split(delimiter), ...SYSTEM_FOLDERS];
  const folder = folders.find((one) => isExecutable(join(one, name)));
  return folder === undefined ? undefined : { command: join(folder, name), env: {} };
}

function findUnpacked(name, packageName) {
  const root = join(UNPACKED, packageName);
  const command = ["usr/sbin", "usr/bin"].map((folder) => join(root, folder, name)).find(isExecutable);
  return command === undefined ? undefined : { command, env: { LD_LIBRARY_PATH: listLibraryFolders(root) } };
}

function pythonEnv(root) {
  return { PYTHONPATH: join(root, PYTHON_MODULES), PYTHONDONTWRITEBYTECODE: "1" };
}

function canImport(module, env) {
  const { status } = spawnSync(PYTHON, ["-c", `import ${module}`], {
    env: { ...process.env, ...env },
    stdio: "ignore",
  });
  return status === 0;
}

/** Downloads the package and the packages that it needs and this system lacks. */
function fetchPackage(name) {
  if (spawnSync("apt-get", ["--version"]).status !== 0) throw new Error(`${name}: this system has no apt-get`);
  console.error(`Fetching the Debian package ${name} …`);
  mkdirSync(UNPACKED, { recursive: true });
  const area = mkdtempSync(join(UNPACKED, ".fetching-"));
  try {
    if (!download([], name, area) && !download(freshLists(area), name, area))
      throw new Error(`${name}: apt-get has no such package, or cannot reach its source`);
    for (const file of readdirSync(area).filter((entry) => entry.endsWith(".deb")))
      spawnSync("dpkg", ["--extract", join(area, file), join(area, "root")]);
    rmSync(join(UNPACKED, name), { recursive: true, force: true });
    renameSync(join(area, "root"), join(UNPACKED, name));
  } finally {
    rmSync(area, { recursive: true, force: true });
  }
}

function download(flags, name, area) {
  const simulation = ["--simulate", "--no-install-recommends", "install", name];
  const plan = spawnSync("apt-get", [...flags, ...simulation], { encoding: "utf8" }).stdout ?? "";
  const packages = [...plan.matchAll(/^Inst (\S+)/gm)].map(([, one]) => one);
  if (packages.length === 0) return false;
  return (
    spawnSync("apt-get", ["--quiet", ...flags, "download", ...packages], { cwd: area, stdio: "ignore" }).status === 0
  );
}

/** Options for separate package lists: those of the system may be empty, and only root can update them. */
function freshLists(area) {
  const folders = { "Dir::State::lists": join(area, "lists"), "Dir::Cache": join(area, "cache") };
  mkdirSync(join(folders["Dir::State::lists"], "partial"), { recursive: true });
  mkdirSync(join(folders["Dir::Cache"], "archives/partial"), { recursive: true });
  const flags = Object.entries(folders).flatMap(([key, folder]) => ["-o", `${key}=${folder}`]);
  spawnSync("apt-get", ["--quiet", ...flags, "update"], { stdio: "ignore" }); // if it fails, the download fails next
  return flags;
}

/** The folders below `root` with shared libraries, in the format of LD_LIBRARY_PATH. */
function listLibraryFolders(root) {
  if (!existsSync(root)) return "";
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((file) => /\.so\.\d/.test(file));
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
