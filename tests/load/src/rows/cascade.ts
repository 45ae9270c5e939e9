import { tableOf } from '../product/product-layout.ts';
import type { Row } from './row.ts';

const authors = 'cascade_authors';
const posts = 'cascade_posts';
const postsEach = 100;
/** More than a round with the default length needs. A longer round ends when they are used up. */
const authorCount = 1200;

/** Each request deletes 101 records, each with its event. */
export const cascade: Row = {
  name: 'cascade',
  title: `delete an author with ${postsEach} posts`,
  isWrite: true,
  isProductOnly: true,
  connections: 10,
  async prepare({ admin }) {
    const rules = { delete_rule: null };
    const create = (name: string, fields: object[]) =>
      admin.call('POST', '/api/v1/collections', { name, type: 'base', fields, ...rules });
    await create(authors, [{ name: 'name', type: 'text' }]);
    await create(posts, [
      { name: 'title', type: 'text' },
      { name: 'author', type: 'relation', collection: authors, options: { cascade: 'cascade' } },
    ]);
    return async () => {
      for (const name of [posts, authors]) await admin.call('DELETE', `/api/v1/collections/${name}`);
    };
  },
  async requests(database) {
    const { rows } = await database.query<{ id: string }>(
      `with made as (
        insert into ${tableOf(authors)} (id, name, created_at, updated_at)
        select gen_random_uuid()::text, 'Author ' || i, 1, 1 from generate_series(1, ${authorCount}) i returning id
      ), written as (
        insert into ${tableOf(posts)} (id, title, author, created_at, updated_at)
        select gen_random_uuid()::text, 'Post ' || i, made.id, 1, 1 from made, generate_series(1, ${postsEach}) i
      )
      select id from made`,
    );
    await database.query(`analyze ${tableOf(posts)}`);
    return { method: 'DELETE', paths: rows.map(({ id }) => `/api/v1/records/${authors}/${id}`), once: true };
  },
};
