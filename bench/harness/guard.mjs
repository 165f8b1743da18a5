/** Ends processes that would otherwise outlive the benchmark. */
import { spawn } from "node:child_process";

/**
 * Starts a shell that waits until its stdin is closed. That happens when this process ends, even after SIGKILL. The
 * shell then ends `child`, or with `isGroup` the process group of `child`, and removes `folder`. If the child ends
 * first, this process kills the shell: another process may get the same pid later.
 */
export function guard(child, folder, { isGroup = false } = {}) {
  const script = 'read -r _; kill -- "$1" 2>/dev/null; rm -rf "$2"';
  // In its own session, the guard does not get Ctrl-C, which goes to the whole process group of this process.
  const args = ["-c", script, "guard", `${isGroup ? "-" : ""}${child.pid}`, folder];
  const shell = spawn("/bin/sh", args, { stdio: ["pipe", "ignore", "ignore"], detached: true });
  shell.unref();
  shell.stdin.unref();
  child.once("exit", () => shell.kill("SIGKILL"));
}
