import type { Operation } from './read-document.ts';

/** The client call for each operation on a collection's records. */
const calls: Readonly<Record<string, (body: () => string) => string>> = {
  list: () => `list({ sort: '-created', perPage: 20 })`,
  view: () => `get('…')`,
  create: (body) => `create(${body()})`,
  update: (body) => `update('…', ${body()})`,
  delete: () => `delete('…')`,
  put: (body) => `upsert('…', ${body()})`,
  upsert: (body) => `upsert({ on: ['…'] }, ${body()})`,
  history: () => `history('…')`,
  restore: () => `restore('…', { at: 1767225600 })`,
  aggregate: () => `aggregate({ count: true })`,
  export: () => `export({ format: 'csv' })`,
};

/** Returns the client call for an operation such as `list_books`. Undefined for other operations. */
export function collectionCall({ operationId, tags }: Operation, body: () => string): string | undefined {
  const collection = tags[0] ?? '';
  if (!operationId.endsWith(`_${collection}`)) return undefined;
  const call = calls[operationId.slice(0, -collection.length - 1)];
  return call && `client.from('${collection}').${call(body)}`;
}
