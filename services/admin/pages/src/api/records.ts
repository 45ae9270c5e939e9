import { RecordbusError } from '@recordbus/client';
import { client } from './client.ts';

/** A record in any collection. */
export type AnyRecord = { readonly id: string } & Readonly<Record<string, unknown>>;

/** A page in a list by cursor. */
export interface CursorPage {
  readonly data: readonly AnyRecord[];
  /** The next page's cursor; null at the end. */
  readonly next: string | null;
}

interface ListRequest {
  readonly collection: string;
  /** Empty for the first page. */
  readonly cursor: string;
  readonly perPage: number;
  readonly sort: string;
  readonly filter: string;
  /** Words for the search index; the cursors are then page numbers. */
  readonly search: string;
  /** The members to read. Undefined reads all. */
  readonly fields: readonly string[] | undefined;
  /** The relations to expand. */
  readonly expand: readonly string[];
  readonly signal: AbortSignal;
}

/** The page size to fall back to when a page would exceed an answer's maximum size. */
const fewer = 10;

/** Reads a page by cursor. If it is too large for one answer, reads it without expansions, then with fewer records. */
export async function readPage(request: ListRequest): Promise<CursorPage> {
  try {
    return await readWhole(request);
  } catch (error) {
    const isTooLarge = error instanceof RecordbusError && error.code === 'answer_too_large';
    if (!isTooLarge) throw error;
    if (request.expand.length > 0) return readPage(withoutExpansions(request));
    // Page numbers count pages of one size.
    if (request.perPage === 1 || request.search !== '') throw error;
    return readPage({ ...request, perPage: request.perPage > fewer ? fewer : 1 });
  }
}

const withoutExpansions = ({ fields, ...request }: ListRequest): ListRequest => ({
  ...request,
  fields: fields?.filter((name) => !name.startsWith('expand.')),
  expand: [],
});

/** Reads one page. The client has only a walk over all pages, and a grid stops at each. */
async function readWhole({
  collection,
  cursor,
  perPage,
  sort,
  filter,
  search,
  fields,
  expand,
  signal,
}: ListRequest): Promise<CursorPage> {
  const path = `/api/v1/records/${encodeURIComponent(collection)}`;
  const page = Number(cursor || '1');
  const query = {
    ...(search === '' ? { cursor } : { search, page }),
    perPage,
    sort: sort || undefined,
    filter: filter || undefined,
    fields: fields?.join(','),
    expand: expand.join(',') || undefined,
  };
  const { json } = await client.transport.send({ method: 'GET', path, query, signal });
  if (search === '') return json as CursorPage;
  const { data, totalPages } = json as CursorPage & { readonly totalPages: number };
  return { data, next: page < totalPages ? String(page + 1) : null };
}

/** Counts the records that match a filter, or words in the search index. */
export async function countRecords(
  collection: string,
  { filter, search = '' }: { readonly filter: string; readonly search?: string },
  signal?: AbortSignal,
): Promise<number> {
  const query = search === '' ? undefined : { search };
  const options = { perPage: 1, fields: ['id'], filter: filter || undefined, query, signal };
  return (await client.from(collection).list(options)).totalItems;
}
