import type pg from 'pg';
import type { AdminApi } from './product/admin-api.ts';
import { tableOf } from './product/product-layout.ts';

/** How many posts PocketBase's published suite has, in its two sizes, with their authors. */
export const sizes = {
  '10k': { posts: 'posts10k', authors: 'authors10k', postCount: 10_000, authorCount: 500 },
  '100k': { posts: 'posts100k', authors: 'authors100k', postCount: 100_000, authorCount: 5_000 },
} as const;

export type Size = keyof typeof sizes;

const organizationCount = 50;

/** Public rules: the bare server has none either, and PocketBase's rows are measured the same way. */
const rules = { list_rule: null, view_rule: null, create_rule: null, update_rule: null, delete_rule: null };

const name = { name: 'name', type: 'text', required: true };

/** Creates the collections through the API and fills them with SQL. */
export async function seed(admin: AdminApi, database: pg.Client): Promise<void> {
  const create = (collection: string, fields: object[]) => createCollection(admin, collection, fields);
  await create('organizations', [name]);
  await fill(database, 'organizations', organizationCount, { name: "'Organization ' || i" });
  for (const { posts, authors, postCount, authorCount } of Object.values(sizes)) {
    await create(authors, [name, { name: 'organization', type: 'relation', collection: 'organizations' }]);
    await fill(database, authors, authorCount, { name: "'Author ' || i", organization: oneOf('organizations') });
    await createPostsCollection(admin, posts, { name: 'author', type: 'relation', collection: authors });
    await fillPosts(database, { posts, authors, count: postCount });
  }
  // Autovacuum would soon create these: statistics, and a visibility map for index-only scans.
  await database.query('vacuum (analyze)');
  await database.query('checkpoint');
}

const createCollection = (admin: AdminApi, collection: string, fields: object[]): Promise<unknown> =>
  admin.call('POST', '/api/v1/collections', { name: collection, type: 'base', fields, ...rules });

/** Creates an empty posts collection, with the given additional fields. */
export async function createPostsCollection(admin: AdminApi, collection: string, ...fields: object[]): Promise<void> {
  await createCollection(admin, collection, [
    { name: 'title', type: 'text', required: true },
    { name: 'description', type: 'text' },
    { name: 'public', type: 'bool' },
    ...fields,
  ]);
}

const fillPosts = (database: pg.Client, { posts, authors, count }: { posts: string; authors: string; count: number }) =>
  fill(database, posts, count, {
    title: "'Post ' || i",
    description: `substr(repeat(${lorem}, 2), 1 + (i * 37 % length(${lorem}))::int, 600)`,
    public: 'i % 2 = 0',
    author: oneOf(authors),
  });

/** About 600 characters, like the descriptions in PocketBase's suite. */
const loremText =
  'Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore et dolore magna ' +
  'aliqua. Ut enim ad minim veniam, quis nostrud exercitation ullamco laboris nisi ut aliquip ex ea commodo consequat. ' +
  'Duis aute irure dolor in reprehenderit in voluptate velit esse cillum dolore eu fugiat nulla pariatur. Excepteur ' +
  'sint occaecat cupidatat non proident, sunt in culpa qui officia deserunt mollit anim id est laborum. Sed ut ' +
  'perspiciatis unde omnis iste natus error sit voluptatem accusantium doloremque laudantium, totam rem aperiam. ';
const lorem = `'${loremText}'`;

/** A description as a client sends it. */
export const description = loremText.slice(0, 600).trim();

/** A post as a client creates it. */
export const newPost = (author?: string): string =>
  JSON.stringify({ title: 'A new post', description, public: true, author });

/** Returns an author's id. */
export async function findAuthor(database: pg.Client, authors: string): Promise<string> {
  const { rows } = await database.query<{ id: string }>(`select id from ${tableOf(authors)} limit 1`);
  if (!rows[0]) throw new Error(`${authors} has no records`);
  return rows[0].id;
}

const oneOf = (collection: string): string =>
  `(select array_agg(id order by id) from ${tableOf(collection)})[1 + (i * 7919::bigint) % (select count(*) from ${tableOf(collection)})]`;

/** A UUIDv7 in SQL for the second in which the row was created, like the product's ids. */
const id = `(
  with hex as (select lpad(to_hex(at * 1000 + i % 1000), 12, '0') as time, md5(i::text || at::text) as random)
  select substr(time, 1, 8) || '-' || substr(time, 9) || '-7' || substr(random, 1, 3) || '-8' || substr(random, 4, 3)
    || '-' || substr(random, 7, 12) from hex
)`;

async function fill(
  database: pg.Client,
  collection: string,
  count: number,
  values: Readonly<Record<string, string>>,
): Promise<void> {
  const columns = Object.keys(values).map((column) => `"${column}"`);
  await database.query(
    `insert into ${tableOf(collection)} (id, created_at, updated_at, ${columns.join(', ')})
     select ${id}, at, at, ${Object.values(values).join(', ')}
     from (select i, floor(extract(epoch from now()))::bigint - $1 + i as at from generate_series(1, $1::bigint) i) series`,
    [count],
  );
}
