const nothing: unknown = new Proxy(() => nothing, {
  get: (_, member) => (member === Symbol.toPrimitive ? () => '' : nothing),
});

/**
 * Stands for a part of the running system where only declarations are looked at: it can be handed on, asked for members
 * and called, and nothing comes of it.
 */
export const absent = <T>(): T => nothing as T;
