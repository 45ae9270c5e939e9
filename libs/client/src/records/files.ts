import { invalidArgument, RecordbusError } from '../error.ts';
import type { Call, CallOptions, Transport } from '../transport.ts';
import { apiPath, mergeQueries, type Query, withQuery } from '../url.ts';

/** Options for a file's URL. */
export interface FileOptions {
  /** A preview's size, such as `100x100`. */
  readonly thumb?: string | undefined;
  /** Whether a browser saves the file rather than shows it. */
  readonly download?: boolean | undefined;
  /** A token for protected files, from `client.fileToken()`. */
  readonly token?: string | undefined;
  /** More query parameters, such as those that the `view_rule` reads as `@request.query.<name>`. */
  readonly query?: Query | undefined;
}

/** A record's stored file. */
export interface StoredFile {
  readonly name: string;
  /** The URL for a file that needs no token. */
  url(options?: FileOptions): string;
  /** A protected file's URL, with its own token. */
  signedUrl(options?: FileOptions & CallOptions): Promise<string>;
  /** Downloads the file, with a token if it needs one. */
  fetch(options?: FileOptions & CallOptions): Promise<Response>;
}

/** A token that opens protected files. */
export interface FileToken {
  readonly token: string;
  /** Unix seconds. */
  readonly expires_at: number;
}

/** Gets a token for one file, or without `values` for every protected file that the caller may see (files §6). */
export const createFileToken = (
  transport: Transport,
  call: Pick<Call, 'values' | 'query' | 'signal'>,
): Promise<FileToken> => transport.data({ method: 'POST', path: apiPath('files', 'token'), values: {}, ...call });

/** Returns a record's file. */
export function storedFile(transport: Transport, collection: string, id: string, name: string): StoredFile {
  const path = apiPath('files', collection, id, name);
  const sign = async <O extends FileOptions & CallOptions>(options: O): Promise<O> => {
    const values = { collection, id, filename: name };
    const { token } = await createFileToken(transport, { values, query: options.query, signal: options.signal });
    return { ...options, token };
  };
  const query = ({ thumb, download, token, query: more }: FileOptions) =>
    mergeQueries(more, { thumb, download: download || undefined, token });
  return {
    name,
    url: (options = {}) => transport.filesUrl + withQuery(path, query(options)),
    signedUrl: async (options = {}) => transport.filesUrl + withQuery(path, query(await sign(options))),
    async fetch(options = {}) {
      const open = (shown: FileOptions): Promise<Response> =>
        openFile(transport, { method: 'GET', path, query: query(shown), signal: options.signal });
      try {
        return await open(options);
      } catch (error) {
        if (!(error instanceof RecordbusError) || error.status !== 401 || options.token) throw error;
        return open(await sign(options));
      }
    },
  };
}

/** Opens a file on the host in the setting `files.host`, which a refusal names if it is another (files §4.6). */
async function openFile(transport: Transport, call: Call): Promise<Response> {
  const { baseUrl, filesUrl } = transport;
  try {
    return await transport.open({ ...call, baseUrl: filesUrl });
  } catch (error) {
    const host = error instanceof RecordbusError && error.status === 404 ? error.details.host : undefined;
    if (typeof host !== 'string') throw error;
    const protocol = /^https?:/i.exec(baseUrl)?.[0] ?? '';
    return transport.open({ ...call, baseUrl: `${protocol}//${host}` });
  }
}

/** The file names in a field, which holds one or a list. */
export function fileNames(record: object, field: string): readonly string[] {
  const value: unknown = Reflect.get(record, field);
  if (value === null || value === undefined) return [];
  if (typeof value === 'string') return [value];
  if (Array.isArray(value) && value.every((name) => typeof name === 'string')) return value;
  throw invalidArgument(`${field} is not a field with files.`);
}
