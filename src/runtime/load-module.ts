/** Loads a user's TypeScript or JavaScript module. The user needs no compiler and no configuration. */
export async function loadModule(path: string, failed: (cause: Error) => Error): Promise<Record<string, unknown>> {
  // `import … from "trawl"` in the module resolves to this package, also when it runs from a clone or through npx.
  const self = new URL(import.meta.url.endsWith(".ts") ? "../index.ts" : "../index.js", import.meta.url).pathname;
  const { createJiti } = await import("jiti"); // imported here because most commands load no user modules
  const jiti = createJiti(import.meta.url, { moduleCache: false, fsCache: false, alias: { trawl: self } });
  try {
    return (await jiti.import(path)) as Record<string, unknown>;
  } catch (cause) {
    throw failed(cause instanceof Error ? cause : new Error(String(cause)));
  }
}
