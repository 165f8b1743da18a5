/**
 * Sees to it that a browser ends with this process, however that ends. Chromium is a dozen processes in a group of
 * their own; a killed parent takes none of them along. So a shell, started before the browser and outside of its group,
 * holds the other end of a pipe to us: when the pipe closes without a word, it kills the group and removes the folder.
 *
 * The browser is started through `startWords`, which writes the group's id before Chromium is there to be missed. A
 * crash of ours between the two leaves a Chromium whose own command pipe is closed, at which it ends by itself.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

export type Watchdog = {
  /** Kills what is left of the group and removes the folder; resolves when both are done. Twice is harmless. */
  end(): Promise<void>;
};

const SHELL = "/bin/sh";
const GROUP_FILE = "group";

/**
 * First the folder gets another name: a browser that is just being started has noted its group by then, or never will, and
 * does not start. Killed processes go on until the kernel gets to them, and may still write into the folder: look again
 * until it stays away.
 */
const WATCH = `
read -r word
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
 * Words for a shell that notes its process group in `folder` and becomes `command`. It looks for its note: if the folder went
 * away while that was being written, the watchdog may have read nothing, and would look after nobody.
 */
export function startWords(folder: string, command: string, words: readonly string[]): readonly string[] {
  const note = `"$1/${GROUP_FILE}"`;
  const script = `echo "$$" > ${note} && [ -s ${note} ] || exit 1; shift; exec "$@"`;
  return ["-c", script, SHELL, folder, command, ...words];
}

/** To be called before the browser is started; fails if it cannot watch. The folder is the browser's own, and goes with it. */
export async function startWatchdog(folder: string): Promise<Watchdog> {
  // In a session of its own: a Ctrl-C at the terminal ends us, and must not end it first.
  const child = spawn(SHELL, ["-c", WATCH, SHELL, folder], { stdio: ["pipe", "ignore", "ignore"], detached: true });
  await once(child, "spawn"); // rejects where the system has no process left for us
  child.stdin.on("error", () => child.stdin.destroy()); // it has ended before us: there is nothing to tell it
  child.unref();
  (child.stdin as unknown as { unref(): void }).unref();
  return {
    async end() {
      // Who waits for its end may have nothing else to do, and would be gone before it.
      child.ref();
      child.stdin.end();
      await ended(child);
    },
  };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}
