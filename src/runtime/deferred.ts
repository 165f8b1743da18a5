/** A promise with its resolve and reject functions. Node 20 has no Promise.withResolvers. */
export function deferred(): { promise: Promise<void>; resolve: () => void; reject: (cause: unknown) => void } {
  let settle = { resolve: () => {}, reject: (_cause: unknown) => {} };
  const promise = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { promise, ...settle };
}
