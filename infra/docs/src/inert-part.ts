const nothing: unknown = new Proxy(() => nothing, {
  get: (_, member) => (member === Symbol.toPrimitive ? () => '' : nothing),
});

/**
 * Replaces a part of the running system where only declarations are read: it can be passed on, its members read and
 * called, all without effect.
 */
export const inertPart = <T>(): T => nothing as T;
