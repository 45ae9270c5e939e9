import { tableOf } from '../product/product-layout.ts';
import { sizes } from '../seed.ts';
import { registerUser } from './register-user.ts';
import type { Row } from './row.ts';
import { createUserTokens } from './user-tokens.ts';
import { withListRule } from './with-list-rule.ts';

/** How many connections PocketBase's published suite has for these rows, so that figures can be compared. */
const connections = 10;

const listOf = (posts: string, query: string): string => `/api/v1/records/${posts}?perPage=20${query}`;

/** Rows that also read related records. */
export const related: readonly Row[] = [
  expanding('expand-author', 'list 20 of 10k, with total, expand author', 'author'),
  expanding('expand-organization', 'list 20 of 10k, with total, expand author.organization', 'author.organization'),
  ofOwner(),
  ofSignedIn(),
  ruled('rule-nested', 'list 20 of 100k, with total, rule author.organization.name != "test"', ''),
  ruled('rule-nested-skip', 'list 20 of 100k, skipTotal, rule author.organization.name != "test"', '&skipTotal=1'),
  filtering(
    'filter-text',
    'list 20 of 100k, with total, filter description ~ "ipsum dolor"',
    'description ~ "ipsum dolor"',
  ),
  filtering('filter-title-skip', 'list 20 of 100k, skipTotal, filter title ~ "7"', 'title ~ "7"', '&skipTotal=1'),
];

function filtering(name: string, title: string, filter: string, query = ''): Row {
  const paths = [listOf(sizes['100k'].posts, `${query}&filter=${encodeURIComponent(filter)}`)];
  return { name, title, isWrite: false, isProductOnly: true, connections, requests: () => ({ method: 'GET', paths }) };
}

function expanding(name: string, title: string, expand: string): Row {
  const paths = [listOf(sizes['10k'].posts, `&expand=${expand}`)];
  return { name, title, isWrite: false, isProductOnly: true, connections, requests: () => ({ method: 'GET', paths }) };
}

function ruled(name: string, title: string, query: string): Row {
  const { posts } = sizes['100k'];
  return {
    name,
    title,
    isWrite: false,
    isProductOnly: true,
    connections,
    prepare: (ground) => withListRule(ground, posts, 'author.organization.name != "test"'),
    requests: () => ({ method: 'GET', paths: [listOf(posts, query)] }),
  };
}

/** The most common rule: signed-in users may read. */
function ofSignedIn(): Row {
  const { posts } = sizes['100k'];
  const tokens = createUserTokens();
  return {
    name: 'rule-signed-in',
    title: 'list 20 of 100k, with total, rule @request.auth.id != ""',
    isWrite: false,
    isProductOnly: true,
    connections,
    async prepare(ground) {
      tokens.keep(ground.database, (await registerUser(ground, 'readers')).token);
      return withListRule(ground, posts, '@request.auth.id != ""');
    },
    requests: (database) => ({ method: 'GET', paths: [listOf(posts, '')], headers: tokens.headersFor(database) }),
  };
}

/** A user with twenty posts. */
function ofOwner(): Row {
  const { posts, authors } = sizes['100k'];
  const tokens = createUserTokens();
  return {
    name: 'rule-owner',
    title: 'list 20 of 100k, with total, rule author = @request.auth.id',
    isWrite: false,
    isProductOnly: true,
    connections,
    async prepare(ground) {
      const user = await registerUser(ground, 'members');
      tokens.keep(ground.database, user.token);
      await ground.database.query(
        `insert into ${tableOf(authors)} (id, name, created_at, updated_at) values ($1, 'The user', 1, 1)`,
        [user.id],
      );
      await ground.database.query(
        `update ${tableOf(posts)} set author = $1 where id in (select id from ${tableOf(posts)} order by id limit 20)`,
        [user.id],
      );
      return withListRule(ground, posts, 'author = @request.auth.id');
    },
    requests: (database) => ({
      method: 'GET',
      paths: [listOf(posts, '')],
      headers: tokens.headersFor(database),
    }),
  };
}
