/** The names that expressions over a collection use, by the kinds of their values. */
export interface Vocabulary {
  readonly text: readonly string[];
  readonly number: readonly string[];
  readonly bool: readonly string[];
  readonly date: readonly string[];
  readonly list: readonly string[];
  readonly json: readonly string[];
  /** Paths that `in` takes on the right. */
  readonly several: readonly string[];
  readonly counts: readonly string[];
  readonly points: readonly string[];
  /** Last segments of lists. */
  readonly lists: ReadonlySet<string>;
  readonly request: typeof request | undefined;
}

const lists = new Set(['tags', 'readers', 'follows']);

const request = {
  text: [
    '@request.auth.id',
    '@request.auth.email:lower',
    '@request.auth.type',
    '@request.auth.collection',
    '@request.method',
    '@request.auth.name',
    '@request.auth.name:lower',
    '@request.auth.organization',
    '@request.auth.organization.name',
  ],
  number: ['@request.auth.level', '@request.auth.organization.size', '@request.auth.name:length'],
  counts: [
    '@request.auth.memberships_via_user',
    '@request.auth.follows',
    '@request.auth.organization.users_via_organization',
  ],
  list: [
    '@request.auth.tags',
    '@request.auth.follows',
    '@request.auth.follows.name',
    '@request.auth.memberships_via_user.organization',
    '@request.auth.organization.users_via_organization',
  ],
  any: [
    '@request.query.q',
    '@request.headers.h',
    '@request.body.title',
    '@request.body.rank',
    '@request.body.ok',
    '@request.body.at',
    '@request.body.tags',
    '@request.body.meta',
    '@request.body.meta.a',
    '@request.body.title:lower',
    '@request.body.id',
  ],
  bool: [
    '@request.auth.verified',
    '@request.auth.active',
    '@request.body.title:isset',
    '@request.query.q:isset',
    '@request.headers.none:isset',
    '@request.body.title:changed',
    '@request.body.rank:changed',
    '@request.body.meta:changed',
    '@request.body.tags:changed',
  ],
};

const posts: Vocabulary = {
  text: [
    'id',
    'title',
    'Order',
    'kind',
    'author',
    'parent',
    'author.id',
    'author.name',
    'author.organization.name',
    'author.organization.id',
    'parent.title',
    'parent.parent.author.name',
    'title:lower',
    'author.name:lower',
    'comments_via_post',
    'comments_via_post.text',
    'comments_via_post.author',
    'comments_via_post.author.name',
    'author.posts_via_author.title',
    'posts_via_parent.comments_via_post.text:lower',
    'readers.id',
    'readers.name',
    'readers.organization.name',
    'author.posts_via_readers.kind',
  ],
  number: [
    'rank',
    'author.organization.size',
    'parent.rank',
    'title:length',
    'tags:length',
    'parent.readers:length',
    'meta:length',
    'comments_via_post.rank',
    'comments_via_post.text:length',
    'readers.level',
  ],
  bool: ['ok', 'author.active', 'parent.author.active', 'readers.active'],
  date: ['at', 'created', 'updated', 'parent.at', 'author.organization.created', 'comments_via_post.created'],
  list: [
    'tags',
    'parent.tags',
    'readers',
    'parent.readers',
    'author.follows',
    'readers.tags',
    'comments_via_post.author.tags',
  ],
  json: ['meta', 'meta.a', 'meta.a.b', 'meta.bb', 'parent.meta', 'parent.meta.a', 'posts_via_parent.meta.a'],
  several: ['tags', 'readers', 'comments_via_post.author', 'readers.organization.name', 'author.follows'],
  counts: [
    'comments_via_post',
    'comments_via_post.author',
    'author.comments_via_author',
    'readers',
    'readers.organization',
    'author',
    'tags',
    'author.follows',
    'comments_via_post.author.tags',
    'posts_via_parent.readers',
  ],
  points: ['author.organization.place', 'readers.organization.place'],
  lists,
  request,
};

const users: Vocabulary = {
  text: ['id', 'name', 'organization', 'organization.name', 'memberships_via_user.kind', 'follows.name'],
  number: ['level', 'name:length', 'organization.size', 'posts_via_author.rank'],
  bool: ['active', 'follows.active'],
  date: ['created', 'organization.updated'],
  list: ['tags', 'follows', 'follows.tags'],
  json: ['posts_via_author.meta', 'posts_via_readers.meta.a'],
  several: ['follows', 'tags', 'memberships_via_user.organization'],
  counts: ['memberships_via_user', 'users_via_follows', 'follows', 'tags'],
  points: ['organization.place'],
  lists,
  request,
};

const comments: Vocabulary = {
  text: ['id', 'text', 'text:lower', 'post', 'author', 'author.name', 'post.title', 'post.comments_via_post.text'],
  number: ['rank', 'post.rank', 'text:length'],
  bool: ['author.active', 'post.ok'],
  date: ['created', 'post.at'],
  list: ['author.tags', 'post.readers', 'post.tags'],
  json: ['post.meta', 'post.meta.a'],
  several: ['post.readers', 'author.follows.id'],
  counts: ['post.comments_via_post', 'author.follows'],
  points: ['author.organization.place'],
  lists,
  request,
};

const memberships: Vocabulary = {
  text: ['id', 'user', 'organization', 'kind', 'user.name', 'organization.name', 'organization.users_via_organization'],
  number: ['organization.size', 'user.level'],
  bool: ['user.active'],
  date: ['created', 'user.updated'],
  list: ['user.tags', 'user.follows'],
  json: ['user.posts_via_author.meta'],
  several: ['organization.users_via_organization', 'user.follows'],
  counts: ['user.memberships_via_user', 'organization.users_via_organization'],
  points: ['organization.place'],
  lists,
  request,
};

/** The vocabularies of the collections. */
export const vocabularies = { posts, users, comments, memberships };

/** The names within `exists`: those of its collection, and those of the outer record after `record.`. */
export function withOuter(inner: Vocabulary, outer: Vocabulary): Vocabulary {
  const join = (kind: 'text' | 'number' | 'bool' | 'date' | 'list' | 'json' | 'several' | 'counts' | 'points') => [
    ...inner[kind],
    ...outer[kind].map((path) => `record.${path}`),
  ];
  return {
    ...inner,
    text: join('text'),
    number: join('number'),
    bool: join('bool'),
    date: join('date'),
    list: join('list'),
    json: join('json'),
    several: join('several'),
    counts: join('counts'),
    points: join('points'),
  };
}
