import { tableOf } from '../product/product-layout.ts';
import { sizes } from '../seed.ts';
import { registerUser } from './register-user.ts';
import type { Ground, Row } from './row.ts';
import { createUserTokens } from './user-tokens.ts';
import { withListRule } from './with-list-rule.ts';

const { posts, authors } = sizes['100k'];
const users = 'teammates';
const userCount = 10_000;
const membershipCount = 30_000;

/** Of 50 organizations, those to which the user who sends the requests belongs. */
const ownOrganizations = 3;

const isMember = 'exists(memberships, user = @request.auth.id && org = record.author.organization)';
const isTenant = 'author.organization = @request.auth.org';

/** Rows with team rules, each with one request at a time, which is how long one user waits. */
export const teamRules: readonly Row[] = [
  ofUser('rule-member-skip', 'list 20 of 100k, skipTotal, rule exists(memberships, …)', isMember, '&skipTotal=1'),
  ofUser('rule-member', 'list 20 of 100k, with total, rule exists(memberships, …)', isMember, ''),
  ofUser(
    'rule-tenant-skip',
    'list 20 of 100k, skipTotal, rule author.organization = @request.auth.org',
    isTenant,
    '&skipTotal=1',
  ),
  ofUser('rule-tenant', 'list 20 of 100k, with total, rule author.organization = @request.auth.org', isTenant, ''),
  {
    name: 'count-referrers',
    title: `list 20 of 5k, with total, filter count(${posts}_via_author) > 20`,
    isWrite: false,
    isProductOnly: true,
    connections: 1,
    requests: () => ({
      method: 'GET',
      paths: [`/api/v1/records/${authors}?perPage=20&filter=${encodeURIComponent(`count(${posts}_via_author) > 20`)}`],
    }),
  },
];

function ofUser(name: string, title: string, rule: string, query: string): Row {
  const tokens = createUserTokens();
  return {
    name,
    title,
    isWrite: false,
    isProductOnly: true,
    connections: 1,
    async prepare(ground) {
      tokens.keep(ground.database, await findToken(ground));
      return withListRule(ground, posts, rule);
    },
    requests: (database) => ({
      method: 'GET',
      paths: [`/api/v1/records/${posts}?perPage=20${query}`],
      headers: tokens.headersFor(database),
    }),
  };
}

/** The user's tokens, by the product's URL. */
const known = new Map<string, Promise<string>>();

function findToken(ground: Ground): Promise<string> {
  const token = known.get(ground.url) ?? createTeams(ground);
  known.set(ground.url, token);
  return token;
}

/** Creates users, and memberships in the posts' organizations. Returns one user's token. */
async function createTeams({ admin, database, url }: Ground): Promise<string> {
  const { id, token } = await registerUser({ admin, url }, users);
  const org = { name: 'org', type: 'relation', collection: 'organizations' };
  await admin.call('POST', `/api/v1/collections/${users}/fields`, org);
  const user = { name: 'user', type: 'relation', collection: users };
  await admin.call('POST', '/api/v1/collections', { name: 'memberships', type: 'base', fields: [org, user] });
  await database.query(
    `insert into ${tableOf(users)} (id, created_at, updated_at, email) select 'user' || i, 1, 1, i || '@example.org'
     from generate_series(1, $1::int) i`,
    [userCount],
  );
  const organization = (n: string) =>
    `(select array_agg(id order by id) from ${tableOf('organizations')})[1 + ${n} % (select count(*) from ${tableOf('organizations')})]`;
  await database.query(`update ${tableOf(users)} set org = ${organization('1')} where id = $1`, [id]);
  await database.query(
    `insert into ${tableOf('memberships')} (id, created_at, updated_at, org, "user")
     select 'membership' || i, 1, 1, ${organization('i')}, case when i <= $3 then $4 else 'user' || 1 + i % $2::int end
     from generate_series(1, $1::int) i`,
    [membershipCount, userCount, ownOrganizations, id],
  );
  await database.query('vacuum (analyze)');
  return token;
}
