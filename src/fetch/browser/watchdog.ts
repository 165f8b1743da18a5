/**
 * Ends the browser when this process ends, in any way. Chromium is a dozen processes in their own process group;
 * killing the parent does not end them. So a shell is started before the browser, outside of its group. The shell holds
 * the other end of a pipe. When the pipe closes, the shell kills the group and removes the folder.
 *
 * The browser is started through `shellArguments`, which writes the id of the group before Chromium starts. If this
 * process crashes between these two steps, the command pipe of Chromium is closed, and Chromium exits by itself.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

type Watchdog = {
  /** Kills the rest of the group and removes the folder. Resolves when both are done. A second call has no effect. */
  end(): Promise<void>;
};

const SHELL = "/bin/sh";
const GROUP_FILE = "group";

/**
 * The script of the watchdog. It first renames the folder: a browser that is starting has either written its group id
 * by then, or fails to write it and does not start. Killed processes run until the kernel ends them and may still write
 * into the folder, so the removal is repeated until the folder no longer exists.
 */
const WATCH = `
read -r line
group=
mv -- "$1" "$1.ended"
if [ -f "$1.ended/${GROUP_FILE}" ]; then read -r group < "$1.ended/${GROUP_FILE}"; fi
for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  if [ -n "$group" ]; then kill -s KILL -- "-$group"; fi
  rm -rf -- "$1" "$1.ended"
  sleep 0.05
  if [ ! -e "$1" ] && [ ! -e "$1.ended" ]; then exit 0; fi
done
`;

/**
 * Arguments of a shell that writes its process group to `folder` and then executes `command`. It checks the written
 * file: if the folder was removed meanwhile, the watchdog may have read nothing and would not end the browser.
 */
export function shellArguments(folder: string, command: string, args: readonly string[]): readonly string[] {
  const file = `"$1/${GROUP_FILE}"`;
  const script = `echo "$$" > ${file} && [ -s ${file} ] || exit 1; shift; exec "$@"`;
  return ["-c", script, SHELL, folder, command, ...args];
}

/**
 * Call before the browser is started. Throws if the watchdog cannot be started. The watchdog also removes the folder.
 */
export async function startWatchdog(folder: string): Promise<Watchdog> {
  // In its own session: Ctrl-C in the terminal ends this process, and must not end the watchdog first.
  const child = spawn(SHELL, ["-c", WATCH, SHELL, folder], { stdio: ["pipe", "ignore", "ignore"], detached: true });
  await once(child, "spawn"); // rejects if the system cannot start another process
  child.stdin.on("error", () => child.stdin.destroy()); // the watchdog has already ended
  child.unref();
  (child.stdin as unknown as { unref(): void }).unref();
  return {
    async end() {
      // Keeps this process alive until the watchdog has ended.
      child.ref();
      child.stdin.end();
      await ended(child);
    },
  };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}
