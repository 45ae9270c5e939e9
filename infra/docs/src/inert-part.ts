const nothing: unknown = new Proxy(() => nothing, {
  get: (_, member) => (member === Symbol.toPrimitive ? () => '' : nothing),
});

/**
 * Returns a stand-in for a part of the running system, for code that only reads declarations. It can be passed on, and
 * its members can be read and called, all without effect.
 */
export const inertPart = <T>(): T => nothing as T;
