import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { createView, open } from './view-definitions.ts';

onEachTopology('a view with an invalid query is refused under view_query', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', {
    name: 'items',
    type: 'base',
    fields: [
      { name: 'title', type: 'text' },
      { name: 'other', type: 'text' },
    ],
  });
  await admin.create('items', { title: 'a' });
  await admin.create('items', { title: 'a' });
  await admin.post('/api/v1/collections', { name: 'people', type: 'auth', fields: [{ name: 'nick', type: 'text' }] });
  const wrong: Record<string, readonly [query: unknown, spec: string]> = {
    'that is missing': [undefined, 'collections §1.5'],
    'that does not parse': ['select id form items', 'views §5.1'],
    'over an unknown collection': ['select id from nothing', 'views §5.1'],
    'with an unknown column': ['select id, colour from items', 'views §5.1'],
    'without an id': ['select title from items', 'views §3.1'],
    'whose ids are not unique': ['select title as id from items', 'views §3.1'],
    'that writes': ['with x as (delete from items returning id) select id from x', 'views §2.1'],
    'with two statements': ['select id from items; select id from items', 'views §2.1'],
    'with all columns of accounts': ['select * from people', 'views §2.4'],
    'with a password hash': ['select id, password_hash from people', 'views §2.4'],
    'that compares a password hash': ["select id from people where password_hash like '$argon2%'", 'views §2.4'],
    'with a TOTP secret': ['select id, upper(totp_secret) as s from people', 'views §2.4'],
    'with a whole account as a value': ['select id, to_jsonb(people) as p from people', 'views §2.4'],
    'over a system table': ['select id, email from system.admins', 'views §2.4'],
    'over the catalog': ['select rolname as id from pg_authid', 'views §2.4'],
    'that reads a file': ["select pg_read_file('/etc/passwd') as id", 'views §2.5'],
    'that runs another query': ["select query_to_xml('select 1', true, true, '')::text as id", 'views §2.5'],
    'that reads a setting': ["select current_setting('data_directory') as id", 'views §2.5'],
    'that sleeps': ['select id from items, pg_sleep(60)', 'views §2.5'],
  };
  await runScenarios(t, target, [
    ...Object.entries(wrong).map(
      ([what, [query, spec]]): Scenario => ({
        name: `a query ${what}`,
        ...createView('wrong', query),
        expect: refused.invalid('view_query'),
        spec,
      }),
    ),
    {
      name: 'a query with public fields of an auth collection',
      ...createView('names', 'select id, nick, verified from people', open),
      expect: { status: 201 },
      spec: 'views §2.2',
    },
    {
      name: 'a query for a base collection',
      as: 'admin',
      request: 'POST /api/v1/collections',
      body: { name: 'wrong', type: 'base', view_query: 'select 1' },
      expect: refused.invalid('view_query'),
      spec: 'collections §1.5',
    },
    {
      name: 'a rule on a column that the query does not return',
      ...createView('wrong', 'select id from items', { list_rule: 'title = "a"' }),
      expect: refused.invalid('list_rule'),
      spec: 'views §4.3',
    },
  ]);
});

onEachTopology("a view's query uses the names that records show", async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'named_people', type: 'auth', fields: [] });
  const person = await admin.create('named_people', {
    email: 'ada@example.com',
    password: 'correct horse battery staple',
  });
  const spec = 'views §2.2';
  const creates = (name: string, query: string): Scenario => ({
    name: `the query ${query}`,
    ...createView(name, query, open),
    expect: { status: 201 },
    spec,
  });
  const shown = { id: person.id, anonymous: false, created: person.created, updated: person.updated };
  const shows = (name: string): Scenario => ({
    name: `the members of records in ${name}`,
    request: `GET /api/v1/${name}?filter=created>0&sort=-anonymous`,
    expect: { status: 200, json: is.containing({ data: [shown] }) },
    spec,
  });
  await runScenarios(t, target, [
    creates('own_names', 'select p.id, p.anonymous, p.created, p.updated from named_people p order by created'),
    shows('own_names'),
    creates('column_names', 'select id, is_anonymous, created_at, updated_at from named_people'),
    shows('column_names'),
    creates('over_view', 'select id, anonymous, created, updated from own_names where created > 0'),
    shows('over_view'),
    ...['p.anonymus', 'p.passwordhash', 'p.creatd', 'p.totp_secrt'].map(
      (column): Scenario => ({
        name: `the unknown column ${column}, without a suggestion`,
        ...createView('wrong', `select p.id, ${column} from named_people p`),
        expect: { status: 422, json: is.containing({ details: { view_query: `column ${column} does not exist` } }) },
        spec,
      }),
    ),
  ]);
});
