import type { Client, RecordJson } from '../harness/clients/client.ts';
import { is } from '../harness/matching.ts';
import type { Target } from '../harness/stacks/target.ts';

/** The scenarios' records: authors, and posts with a field for each type. All public. */
interface Blog {
  readonly author: RecordJson;
  readonly post: RecordJson;
}

const postFields = [
  { name: 'title', type: 'text', required: true, options: { min: 2, max: 20, pattern: '^[A-Z]' } },
  { name: 'slug', type: 'text', options: { unique: true } },
  { name: 'stars', type: 'number', options: { min: 0, max: 5 } },
  { name: 'live', type: 'bool' },
  { name: 'published', type: 'date' },
  { name: 'kind', type: 'select', options: { values: ['news', 'essay'] } },
  { name: 'tags', type: 'select', options: { values: ['a', 'b', 'c'], multiple: true } },
  { name: 'meta', type: 'json' },
  { name: 'author', type: 'relation', collection: 'authors' },
];

/** Every field in a post, each with a value. */
export const fullPost = (author: string) => ({
  title: 'Hello',
  slug: 'hello',
  stars: 4.5,
  live: true,
  published: 1_700_000_000,
  kind: 'news',
  tags: ['a', 'c'],
  meta: { words: 120, links: [null, 'x', { deep: true }] },
  author,
});

/** A post in an answer: fields that were not written are null. */
export const postJson = (written: object) => ({
  id: is.uuidV7,
  title: null,
  slug: null,
  stars: null,
  live: null,
  published: null,
  kind: null,
  tags: null,
  meta: null,
  author: null,
  ...written,
  created: is.now,
  updated: is.now,
});

/** Creates an author and a post, and their collections where the stack lacks them. */
export async function createBlog(target: Target): Promise<Blog> {
  const { guest } = target;
  const admin = await target.admin();
  if ((await admin.get('/api/v1/collections/posts')).status === 404) await define(admin);
  const author = await guest.create('authors', { name: 'Ada' });
  const post = await guest.create('posts', { title: 'First', author: author.id });
  return { author, post };
}

async function define(admin: Client): Promise<void> {
  const authorFields = [{ name: 'name', type: 'text' }];
  await admin.post('/api/v1/collections', { name: 'authors', type: 'base', fields: authorFields });
  await admin.post('/api/v1/collections', { name: 'posts', type: 'base', fields: postFields });
}

/** A record collection's three paths (records §1.1). */
export const pathsOf = (collection: string): readonly string[] =>
  ['/api', '/api/v1', '/api/v1/records'].map((prefix) => `${prefix}/${collection}`);

/** A well-formed id that no record has. */
export const unknownId = '01980000-0000-7000-8000-00000000dead';
