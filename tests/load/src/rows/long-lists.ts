import { sizes } from '../seed.ts';
import type { Ground, Row } from './row.ts';

const { posts } = sizes['100k'];
const path = `/api/v1/records/${posts}`;

/** How deep the deep page is: 4,000 pages with 20 records each. */
const depth = 80_000;

/** Rows that read far into a collection, or all of it. */
export const longLists: readonly Row[] = [
  byCursor('cursor-first', 'list 20 of 100k by cursor, first page', async () => ''),
  byCursor('cursor-deep', 'list 20 of 100k by cursor, 4,000 pages deep', findDeepCursor),
  {
    name: 'aggregate-month',
    title: 'aggregate 100k by month',
    isWrite: false,
    isProductOnly: true,
    connections: 1,
    requests: () => ({ method: 'GET', paths: [`${path}/aggregate?group=month(created)&count=1`] }),
  },
  exportAs('csv'),
  exportAs('ndjson'),
];

function exportAs(format: string): Row {
  return {
    name: `export-${format}`,
    title: `export 100k as ${format}`,
    isWrite: false,
    isProductOnly: true,
    connections: 1,
    requests: () => ({ method: 'GET', paths: [`${path}/export?format=${format}`] }),
  };
}

function byCursor(name: string, title: string, find: (ground: Ground) => Promise<string>): Row {
  let cursor = '';
  return {
    name,
    title,
    isWrite: false,
    isProductOnly: true,
    async prepare(ground) {
      cursor = await find(ground);
      return async () => {};
    },
    requests: () => ({ method: 'GET', paths: [`${path}?perPage=20&cursor=${cursor}`] }),
  };
}

/** Reads the list up to its depth, as a guest, whose cursor the row's requests use. */
async function findDeepCursor({ url }: Ground): Promise<string> {
  let cursor = '';
  for (let read = 0; read < depth; read += 1000) {
    const answer = await fetch(`${url}${path}?perPage=1000&fields=id&cursor=${cursor}`);
    if (!answer.ok) throw new Error(`a page was answered with ${answer.status}: ${await answer.text()}`);
    const { next } = (await answer.json()) as { readonly next?: string | null };
    // A version before cursors answers its first page.
    cursor = next ?? '';
  }
  return cursor;
}
