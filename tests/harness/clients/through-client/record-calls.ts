import { type ClientCall, dataOf, hasOnly, isObject, type Wanted } from './client-call.ts';

const path = /^\/api\/(?:v1\/)?(records\/)?([A-Za-z]\w*)(?:\/([^/]+))?(?:\/(history|restore))?$/;
/** First path segments that are not collections. */
const reserved = new Set(
  'admin auth batch collections files health jobs metrics realtime records search settings v1 x'.split(' '),
);

const decoded = (text: string | undefined): string | undefined => {
  try {
    return text === undefined ? undefined : decodeURIComponent(text);
  } catch {
    return '';
  }
};

/** Returns the `from(…)` call that matches a request to the records API. */
export function recordCallOf(wanted: Wanted): ClientCall | undefined {
  const [, isLong, collection = '', encoded, action] = path.exec(wanted.resource) ?? [];
  const id = decoded(encoded);
  if (collection === '' || id === '' || (!isLong && reserved.has(collection.toLowerCase()))) return undefined;
  if (id === undefined) return wanted.method === 'GET' ? listOf(collection, wanted) : writeOf(collection, wanted);
  if (action) return versionsOf(collection, id, action, wanted);
  if (id === 'aggregate') return aggregateOf(collection, wanted);
  if (['import', 'export', 'list', 'search', 'batch'].includes(id)) return undefined;
  return wanted.method === 'GET' ? getOf(collection, id, wanted) : changeOf(collection, id, wanted);
}

const number = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text));
const isWhole = (text: string | undefined): boolean => text === undefined || /^\d{1,9}$/.test(text);
const list = (text: string | undefined): readonly string[] | undefined => (text === undefined ? undefined : [text]);
const isPlain = ({ headers }: Wanted): boolean => hasOnly(headers, ['x-request-id']);
const keyOf = ({ headers }: Wanted): { readonly idempotencyKey?: string } => {
  const key = headers['idempotency-key'] ?? headers['x-service-idempotency-key'];
  return key === undefined ? {} : { idempotencyKey: key };
};
const hasOneKey = ({ headers }: Wanted): boolean =>
  !('idempotency-key' in headers && 'x-service-idempotency-key' in headers);

function listOf(collection: string, wanted: Wanted): ClientCall | undefined {
  const { query } = wanted;
  if (query.cursor === '') return firstPageOf(collection, wanted);
  const { page, perPage, filter, sort, expand, fields, skipTotal } = query;
  const names = ['page', 'perPage', 'filter', 'sort', 'expand', 'fields', 'skipTotal'];
  if (!isPlain(wanted) || !hasOnly(query, names) || !isWhole(page) || !isWhole(perPage)) return undefined;
  if (skipTotal !== undefined && skipTotal !== '1' && skipTotal !== 'true') return undefined;
  const options = { page: number(page), perPage: number(perPage), filter, sort, skipTotal: skipTotal && true };
  return {
    run: (client) =>
      client
        .from(collection)
        .list({ ...options, expand: list(expand), fields: list(fields) } as Parameters<
          ReturnType<typeof client.from>['list']
        >[0]),
    expected: (json) => json,
  };
}

/** The first record in `all`. Its later pages have no request of their own. */
function firstPageOf(collection: string, wanted: Wanted): ClientCall | undefined {
  const { perPage, filter, sort, expand, fields } = wanted.query;
  const names = ['cursor', 'perPage', 'filter', 'sort', 'expand', 'fields'];
  // Without a page size the client sends its own.
  if (!isPlain(wanted) || !hasOnly(wanted.query, names) || perPage === undefined || !isWhole(perPage)) return undefined;
  const options = { perPage: number(perPage), filter, sort, expand: list(expand), fields: list(fields) };
  return {
    run: async (client) =>
      (
        await client
          .from(collection)
          .all(options as never)
          .next()
      ).value,
    expected: (json) => (dataOf(json) as readonly unknown[])[0],
  };
}

function getOf(collection: string, id: string, wanted: Wanted): ClientCall | undefined {
  const { expand, fields } = wanted.query;
  if (!isPlain(wanted) || !hasOnly(wanted.query, ['expand', 'fields'])) return undefined;
  return {
    run: (client) => client.from(collection).get(id, { expand: list(expand), fields: list(fields) } as never),
    expected: dataOf,
  };
}

function writeOf(collection: string, wanted: Wanted): ClientCall | undefined {
  const { method, body, query, headers } = wanted;
  if (!isObject(body) || !hasOneKey(wanted) || 'if-none-match' in headers) return undefined;
  if (method === 'POST' && hasOnly(query, []) && !('if-match' in headers))
    return { run: (client) => client.from(collection).create(body, keyOf(wanted)), expected: dataOf };
  if (method !== 'PUT' || !query.on || !hasOnly(query, ['on'])) return undefined;
  const options = { ...keyOf(wanted), ifMatch: headers['if-match'] };
  return { run: (client) => client.from(collection).upsert({ on: [query.on ?? ''] }, body, options), expected: dataOf };
}

function changeOf(collection: string, id: string, wanted: Wanted): ClientCall | undefined {
  const { method, body, query, headers } = wanted;
  if (!hasOnly(query, []) || !hasOneKey(wanted)) return undefined;
  const options = { ...keyOf(wanted), ifMatch: headers['if-match'] };
  const onlyCreate = headers['if-none-match'] === '*';
  if ('if-none-match' in headers && (method !== 'PUT' || !onlyCreate)) return undefined;
  if (method === 'DELETE' && body === undefined && !keyOf(wanted).idempotencyKey)
    return { run: (client) => client.from(collection).delete(id, options), expected: () => undefined };
  if (!isObject(body)) return undefined;
  if (method === 'PATCH')
    return { run: (client) => client.from(collection).update(id, body, options), expected: dataOf };
  if (method !== 'PUT') return undefined;
  return { run: (client) => client.from(collection).upsert(id, body, { ...options, onlyCreate }), expected: dataOf };
}

function versionsOf(collection: string, id: string, action: string, wanted: Wanted): ClientCall | undefined {
  const { method, query, headers, body } = wanted;
  const { page, perPage, version, at, deleted } = query;
  if (action === 'history') {
    if (method !== 'GET' || !isPlain(wanted) || !hasOnly(query, ['page', 'perPage'])) return undefined;
    if (!isWhole(page) || !isWhole(perPage)) return undefined;
    const paging = { page: number(page), perPage: number(perPage) };
    return { run: (client) => client.from(collection).history(id, paging), expected: dataOf };
  }
  const isOne = (version === undefined) !== (at === undefined);
  if (method !== 'POST' || !isOne || !hasOnly(query, ['version', 'at', 'deleted'])) return undefined;
  if (body !== undefined || !isWhole(at) || (deleted !== undefined && deleted !== '1')) return undefined;
  const point = version === undefined ? { at: Number(at) } : { version };
  const options = { ...keyOf(wanted), ifMatch: headers['if-match'] };
  return {
    run: (client) => client.from(collection).restore(id, { ...point, ...(deleted && { deleted: true }) }, options),
    expected: dataOf,
  };
}

function aggregateOf(collection: string, wanted: Wanted): ClientCall | undefined {
  const { query, method } = wanted;
  const { group, count, sum, avg, min, max, filter, having, sort, tz, page, perPage } = query;
  const names = 'group count sum avg min max filter having sort tz page perPage'.split(' ');
  if (method !== 'GET' || !isPlain(wanted) || !hasOnly(query, names)) return undefined;
  if (!isWhole(page) || !isWhole(perPage) || (count !== undefined && count !== '1')) return undefined;
  const lists = { group: list(group), sum: list(sum), avg: list(avg), min: list(min), max: list(max) };
  const rest = {
    count: count && true,
    filter,
    having,
    sort,
    timeZone: tz,
    page: number(page),
    perPage: number(perPage),
  };
  return {
    run: (client) => client.from(collection).aggregate({ ...lists, ...rest } as never),
    expected: (json) => json,
  };
}
