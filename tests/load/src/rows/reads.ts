import type pg from 'pg';
import { tableOf } from '../product/product-layout.ts';
import { type Size, sizes } from '../seed.ts';
import { creating } from './beside.ts';
import type { Row } from './row.ts';

const sampleSize = 5000;

/** Rows that read. */
export const reads: readonly Row[] = [
  one('get', 'get one of 10k', '10k'),
  one('get-100k', 'get one of 100k', '100k'),
  list('list-10k', 'list 20 of 10k, skipTotal', '10k', true),
  list('list-10k-total', 'list 20 of 10k, with total', '10k', false),
  list('list-100k', 'list 20 of 100k, skipTotal', '100k', true),
  list('list-100k-total', 'list 20 of 100k, with total', '100k', false),
  {
    ...list('list-100k-total-written', 'list 20 of 100k, with total, during 100 creates/s', '100k', false),
    isWrite: true,
    beside: creating('100k', 100),
  },
];

function one(name: string, title: string, size: Size): Row {
  const paths = (database: pg.Client) => somePaths(database, sizes[size].posts, sampleSize);
  return {
    name,
    title,
    isWrite: false,
    requests: async (database) => ({ method: 'GET', paths: await paths(database) }),
  };
}

function list(name: string, title: string, size: Size, skipTotal: boolean): Row {
  const path = `/api/v1/records/${sizes[size].posts}?perPage=20${skipTotal ? '&skipTotal=1' : ''}`;
  return { name, title, isWrite: false, requests: () => ({ method: 'GET', paths: [path] }) };
}

/** Returns paths to random records, so that reads do not hit a single cached page. */
export async function somePaths(database: pg.Client, posts: string, count: number): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(`select id from ${tableOf(posts)} order by random() limit $1`, [
    count,
  ]);
  return rows.map(({ id }) => `/api/v1/records/${posts}/${id}`);
}
