/** Loads a user's module, TypeScript or JavaScript, with nothing to install or configure. */
export async function loadModule(path: string, failed: (cause: Error) => Error): Promise<Record<string, unknown>> {
  // The user's `import … from "trawl"` finds this very package, also when it runs from a clone or through npx.
  const self = new URL(import.meta.url.endsWith(".ts") ? "../index.ts" : "../index.js", import.meta.url).pathname;
  const { createJiti } = await import("jiti"); // most commands load nothing of the user's
  const jiti = createJiti(import.meta.url, { moduleCache: false, fsCache: false, alias: { trawl: self } });
  try {
    return (await jiti.import(path)) as Record<string, unknown>;
  } catch (cause) {
    throw failed(cause instanceof Error ? cause : new Error(String(cause)));
  }
}
