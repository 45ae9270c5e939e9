import { tableOf } from '../product/product-layout.ts';
import { createPostsCollection, description, newPost, sizes } from '../seed.ts';
import { atConnections } from './at-connections.ts';
import { createWithWebhooks } from './create-with-webhooks.ts';
import { somePaths } from './reads.ts';
import { refresh } from './refresh.ts';
import type { Row } from './row.ts';
import { upload } from './upload.ts';

const relaxed = 'relaxed_posts';
const keyed = 'keyed_posts';
const { posts, authors } = sizes['100k'];

/** More than a round with the default length needs. A longer round ends when they are used up. */
const deletableCount = 20_000;
const sampleSize = 5000;

/** Rows that write one record to the large table. */
const toLargeTable: readonly Row[] = [
  {
    name: 'create',
    title: 'create in 100k (bare: insert without event)',
    isWrite: true,
    async requests(database) {
      const { rows } = await database.query<{ id: string }>(`select id from ${tableOf(authors)} limit 500`);
      const bodies = rows.map(({ id }, index) =>
        JSON.stringify({ title: `A new post by author ${index}`, description, public: true, author: id }),
      );
      return { method: 'POST', paths: [`/api/v1/records/${posts}`], bodies };
    },
  },
  {
    name: 'update',
    title: 'update one of 100k (bare: without event)',
    isWrite: true,
    requests: async (database) => ({
      method: 'PATCH',
      paths: await somePaths(database, posts, sampleSize),
      bodies: Array.from({ length: 100 }, (_, index) => JSON.stringify({ title: `Another title ${index}` })),
    }),
  },
  {
    name: 'delete',
    title: 'delete one of 100k (bare: without event)',
    isWrite: true,
    requests: async (database) => ({
      method: 'DELETE',
      paths: await somePaths(database, posts, deletableCount),
      once: true,
    }),
  },
];

/** Creates as the typed client sends them, which sends them again after a lost answer. */
const keyedCreate: Row = {
  name: 'create-keyed',
  title: 'create with an idempotency key',
  isWrite: true,
  isProductOnly: true,
  async prepare({ admin }) {
    await createPostsCollection(admin, keyed);
    return async () => {
      await admin.call('DELETE', `/api/v1/collections/${keyed}`);
    };
  },
  requests: () => ({ method: 'POST', paths: [`/api/v1/records/${keyed}`], bodies: [newPost()], keyed: true }),
};

/** Creates that do not wait for the disk. */
const relaxedCreate: Row = {
  name: 'create-relaxed',
  title: 'create in a relaxed collection',
  isWrite: true,
  isProductOnly: true,
  async prepare({ admin }) {
    await createPostsCollection(admin, relaxed);
    await admin.call('PATCH', `/api/v1/collections/${relaxed}`, { durability: 'relaxed' });
    return async () => {
      await admin.call('DELETE', `/api/v1/collections/${relaxed}`);
    };
  },
  requests: () => ({ method: 'POST', paths: [`/api/v1/records/${relaxed}`], bodies: [newPost()] }),
};

/** Rows that write. */
export const writes: readonly Row[] = [
  ...toLargeTable,
  upload,
  refresh,
  ...[...toLargeTable, upload, refresh].flatMap(atConnections),
  keyedCreate,
  relaxedCreate,
  ...atConnections(relaxedCreate),
  ...atConnections(keyedCreate),
  ...[0, 1, 20].map(createWithWebhooks),
];
