const nothing: unknown = new Proxy(() => nothing, {
  get: (_, member) => (member === Symbol.toPrimitive ? () => '' : nothing),
});

/**
 * Returns a stand-in for a part of the running system, for code that only reads declarations. Its members can be read
 * and called without effect.
 */
export const inertPart = <T>(): T => nothing as T;
