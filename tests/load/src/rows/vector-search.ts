import type pg from 'pg';
import { tableOf } from '../product/product-layout.ts';
import type { Row } from './row.ts';

const collection = 'documents';
const count = 50_000;
const countAtOnce = 10_000;
const dimensions = 384;
const questionCount = 50;

/** Searches, each with a new vector, when the stored vectors are in memory. */
export const vectorSearch: Row = {
  name: 'vector',
  title: `the 10 nearest of ${count.toLocaleString('en')} vectors of ${dimensions} dimensions`,
  isWrite: false,
  isProductOnly: true,
  connections: 1,
  async prepare({ admin, database, url }) {
    await admin.call('POST', '/api/v1/collections', {
      name: collection,
      type: 'base',
      fields: [
        { name: 'title', type: 'text' },
        { name: 'embedding', type: 'vector', options: { dimensions } },
      ],
      list_rule: null,
    });
    for (let start = 0; start < count; start += countAtOnce) await fill(database, start);
    await database.query(`vacuum (analyze) ${tableOf(collection)}`);
    // The first search reads all vectors.
    await (await fetch(`${url}${pathOf(randomVector())}`)).text();
    return async () => {
      await admin.call('DELETE', `/api/v1/collections/${collection}`);
    };
  },
  requests: () => ({ method: 'GET', paths: Array.from({ length: questionCount }, () => pathOf(randomVector())) }),
};

const pathOf = (vector: readonly number[]): string =>
  `/api/v1/records/${collection}?fields=title&nearVectorField=embedding&nearVector=${JSON.stringify(vector)}`;

const randomVector = (): number[] => Array.from({ length: dimensions }, () => Math.random() * 2 - 1);

/** A random vector in SQL. `generate_series` starts at the row's number, so that each row has other values. */
const fill = (database: pg.Client, start: number) =>
  database.query(
    `insert into ${tableOf(collection)} (id, title, embedding, created_at, updated_at)
     select gen_random_uuid()::text, 'Document ' || i,
       (select array_agg(random() * 2 - 1) from generate_series(i, i + ${dimensions - 1})), 1, 1
     from generate_series($1::int + 1, $1::int + ${countAtOnce}) i`,
    [start],
  );
