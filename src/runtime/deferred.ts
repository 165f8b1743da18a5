/** Promise.withResolvers, which Node 20 does not have. */
export function deferred(): { promise: Promise<void>; resolve: () => void; reject: (cause: unknown) => void } {
  let settle = { resolve: () => {}, reject: (_cause: unknown) => {} };
  const promise = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { promise, ...settle };
}
