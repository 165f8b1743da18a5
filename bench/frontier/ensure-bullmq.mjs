/** Installs BullMQ into a separate folder on first use, because the project itself does not depend on it. */
import { ensurePackages, packageFolder } from "../programs/npm.mjs";

export const BULLMQ_FOLDER = packageFolder("bullmq");

/** Resolves with the installed version. */
export function ensureBullmq() {
  return ensurePackages("bullmq", ["bullmq@5"]);
}
