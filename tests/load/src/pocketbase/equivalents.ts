import type { Requests } from '../generator/job.ts';
import { uploadBody, uploadCollection, uploadType } from '../rows/upload.ts';
import { description, newPost, type Size, sizes } from '../seed.ts';
import type { PocketBase } from './start-pocketbase.ts';

/** Returns a round's requests. */
type RequestsOf = (pocketbase: PocketBase) => Requests | Promise<Requests>;

const { postCount, authorCount } = sizes['100k'];
const posts = '/api/collections/posts100k/records';
const sampleSize = 5000;
const deletesEach = 9000;

const recordId = (n: number): string => `r${String(n).padStart(14, '0')}`;
const random = (count: number): string => recordId(1 + Math.floor(Math.random() * count));

const get =
  (size: Size): RequestsOf =>
  () => ({
    method: 'GET',
    paths: Array.from(
      { length: sampleSize },
      () => `/api/collections/posts${size}/records/${random(sizes[size].postCount)}`,
    ),
  });

const list =
  (size: Size, query = ''): RequestsOf =>
  () => ({ method: 'GET', paths: [`/api/collections/posts${size}/records?perPage=20${query}`] });

const writes: Readonly<Record<string, RequestsOf>> = {
  create: () => ({
    method: 'POST',
    paths: [posts],
    bodies: Array.from({ length: 500 }, (_, index) =>
      JSON.stringify({
        title: `A new post by author ${index}`,
        description,
        public: true,
        author: random(authorCount),
      }),
    ),
  }),
  update: () => ({
    method: 'PATCH',
    // The deletes take the others.
    paths: Array.from({ length: sampleSize }, () => `${posts}/${random(postCount / 10)}`),
    bodies: Array.from({ length: 100 }, (_, index) => JSON.stringify({ title: `Another title ${index}` })),
  }),
  delete: takeDeletes(),
  upload: () => ({
    method: 'POST',
    paths: [`/api/collections/${uploadCollection}/records`],
    bodies: [uploadBody],
    headers: { 'content-type': uploadType },
  }),
  'create-relaxed': () => ({
    method: 'POST',
    paths: [posts],
    bodies: [newPost()],
  }),
  refresh: ({ tokens }) => ({
    method: 'POST',
    paths: ['/api/collections/users/auth-refresh'],
    bodies: ['{}'],
    tokens,
  }),
};

const reads: Readonly<Record<string, RequestsOf>> = {
  get: get('10k'),
  'get-100k': get('100k'),
  'list-10k': list('10k', '&skipTotal=1'),
  'list-10k-total': list('10k'),
  'list-100k': list('100k', '&skipTotal=1'),
  'list-100k-total': list('100k'),
  'expand-author': list('10k', '&expand=author'),
  'rule-owner': listAsUser('posts_of_owners'),
  'rule-signed-in': listAsUser('posts_of_members'),
  'filter-text': list('100k', `&filter=${encodeURIComponent('description ~ "ipsum dolor"')}`),
  'filter-title-skip': list('100k', `&skipTotal=1&filter=${encodeURIComponent('title ~ "7"')}`),
};

/** Returns the requests to PocketBase that match a row's; undefined without a match. */
export const findEquivalent = (row: string): RequestsOf | undefined =>
  reads[row] ?? writes[row.replace(/-(1|8|32|128)$/, '')];

/** A user lists a collection that has a rule. */
function listAsUser(collection: string): RequestsOf {
  const paths = [`/api/collections/${collection}/records?perPage=20`];
  return ({ tokens }) => ({ method: 'GET', paths, tokens: tokens.slice(0, 1) });
}

/** Each round deletes records that no other round has deleted. */
function takeDeletes(): RequestsOf {
  let next = postCount / 10;
  return () => {
    const paths = Array.from({ length: Math.min(deletesEach, postCount - next) }, () => {
      next += 1;
      return `${posts}/${recordId(next)}`;
    });
    return { method: 'DELETE', paths, once: true };
  };
}
