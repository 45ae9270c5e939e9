import type { CallOptions, Transport } from '../transport.ts';
import { apiPath, mergeQueries } from '../url.ts';

type Segments = readonly string[];

/** What the server warns of in an answer to a definition, such as a pattern that no event matches. */
export interface Warned {
  readonly warnings?: readonly string[];
}

/** Requests to admin routes, by their path segments. */
export function createRequests(transport: Transport) {
  return {
    get: <T>(segments: Segments, options?: CallOptions): Promise<T> =>
      transport.data<T>({ method: 'GET', path: apiPath(...segments), ...options }),
    /** Returns a whole page: `data` and its totals. */
    page: async <T>(segments: Segments, values: object = {}, { query, signal }: CallOptions = {}): Promise<T> => {
      const call = { query: mergeQueries(query, { ...values }), signal };
      return (await transport.send({ method: 'GET', path: apiPath(...segments), ...call })).json as T;
    },
    /** Sends a POST with an idempotency key, so its work is done once. */
    create: <T>(segments: Segments, values: object = {}, options?: CallOptions): Promise<T> =>
      transport.data<T>({ method: 'POST', path: apiPath(...segments), values, key: true, ...options }),
    post: <T>(segments: Segments, values: object = {}, options?: CallOptions): Promise<T> =>
      transport.data<T>({ method: 'POST', path: apiPath(...segments), values, ...options }),
    patch: <T>(segments: Segments, values: object, options?: CallOptions): Promise<T> =>
      transport.data<T>({ method: 'PATCH', path: apiPath(...segments), values, ...options }),
    /** Creates or changes a definition. What the server warns of is a member of the returned one. */
    define: async <T>(
      method: 'POST' | 'PATCH',
      segments: Segments,
      values: object,
      options?: CallOptions,
    ): Promise<T & Warned> => {
      const call = { method, path: apiPath(...segments), values, key: method === 'POST', ...options };
      const { data, warnings } = (await transport.send(call)).json as { readonly data: T } & Warned;
      return { ...data, ...(warnings && { warnings }) };
    },
    remove: async (segments: Segments, options?: CallOptions): Promise<void> => {
      await transport.send({ method: 'DELETE', path: apiPath(...segments), ...options });
    },
  };
}

export type Requests = ReturnType<typeof createRequests>;

/** The same requests, each with these query parameters. */
export function withQuery(requests: Requests, query: Readonly<Record<string, string>>): Requests {
  const within = (options: CallOptions = {}): CallOptions => ({
    ...options,
    query: mergeQueries(options.query, query),
  });
  return {
    get: (segments, options) => requests.get(segments, within(options)),
    page: (segments, values, options) => requests.page(segments, values, within(options)),
    create: (segments, values, options) => requests.create(segments, values, within(options)),
    post: (segments, values, options) => requests.post(segments, values, within(options)),
    patch: (segments, values, options) => requests.patch(segments, values, within(options)),
    define: (method, segments, values, options) => requests.define(method, segments, values, within(options)),
    remove: (segments, options) => requests.remove(segments, within(options)),
  };
}
