import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createDirectory, type PocketBaseCollection } from './definitions.ts';
import { tableCollections } from './table.ts';
import { type RuleSlot, translateFilter, translateRule, UntranslatableFilter } from './translate.ts';

const id = { name: 'id', type: 'text', required: true };
const users: PocketBaseCollection = {
  id: '_pb_users_auth_',
  name: 'users',
  type: 'auth',
  fields: [id, { name: 'type', type: 'text' }, { name: 'key', type: 'text', hidden: true }],
};
const jobs: PocketBaseCollection = {
  id: 'pbc_1',
  name: 'jobs',
  type: 'base',
  fields: [
    id,
    { name: 'owner', type: 'relation', collectionId: users.id },
    { name: 'search', type: 'text' },
    { name: 'tags', type: 'select', maxSelect: 3, values: ['a', 'b'] },
    { name: 'secret', type: 'text', hidden: true },
  ],
};
const superusers: PocketBaseCollection = { id: 'pbc_3', name: '_superusers', type: 'auth', fields: [id] };
const collections = [users, jobs, superusers];
const directory = createDirectory(collections, {
  collections: { jobs: 'jobs_', users: 'people' },
  fields: { users: { type: 'type_' }, jobs: { search: 'search_' } },
});
const translate = (text: string | null, slot: RuleSlot = 'list', from = directory) =>
  translateRule(text, slot, jobs, from);

const table = createDirectory(tableCollections);
const tasks = table.find('tasks');
assert.ok(tasks);
const translateTask = (text: string) => translateRule(text, 'list', tasks, table);

describe('a rule', () => {
  test('without a text keeps its meaning: null and the empty text change places', () => {
    assert.deepEqual(translate(null), {
      collection: 'jobs',
      rule: 'list_rule',
      from: null,
      to: '',
      result: 'exact',
      why: null,
    });
    assert.equal(translate('').to, null);
    assert.equal(translate('', 'manage').to, '');
    assert.equal(translate(null, 'auth').to, '');
    assert.equal(translate('', 'auth').to, null);
  });

  for (const [from, to, slot] of [
    ['owner.type = "a"', 'owner.type_ = "a"'],
    ['@request.auth.type = "a"', '@request.auth.type_ = "a"'],
    ['@collection.jobs.search ?= "a"', 'exists(jobs_, search_ = "a")'],
    ['@collection.pbc_1.search ?= "a"', 'exists(jobs_, search_ = "a")'],
    [
      '@collection.jobs:x.search ?= "a" && @collection.jobs:y.search ?= "b"',
      'exists(jobs_, search_ = "a") && exists(jobs_, search_ = "b")',
    ],
    ['owner.jobs_via_owner.search ?= "a"', 'owner.jobs__via_owner.search_ = "a"'],
    ['@request.auth.collectionId = "_pb_users_auth_"', '@request.auth.collection = "people"'],
    ['@request.auth.collectionName != "_superusers" && id = "a"', 'id = "a"'],
    ['@request.body.search = "a"', '@request.body.search_ = "a"', 'update'],
    ['@request.data.search:isset != true', '@request.body.search_:isset = false', 'update'],
    ['@request.body.owner.type = "a"', 'owner.type_ = "a"', 'create'],
    ['@request.body.owner.type = "a"', 'exists(people, id = @request.body.owner && type_ = "a")', 'update'],
    ['@request.body.tags:length > 0', '@request.body.tags ~ ""', 'update'],
    ['@request.body.tags:length = 0', 'not (@request.body.tags ~ "")', 'create'],
    ['@request.body.tags:each != ""', '@request.body.tags ~ ""', 'update'],
    ['@request.body.tags:each = ""', '1 = 2', 'update'],
    ['@request.query.test:isset = true', '@request.query.test:isset = true'],
    ['@request.headers.x_a:isset != true', '@request.headers.x_a:isset = false'],
    ['"a" = search', 'search_ = "a"'],
    ['NULL = owner', 'owner = null'],
    ['search = "5" || search = 5', 'search_ = "5" || search_ = "5.0"'],
    [
      '(search = "a" || @collection.jobs.search ?= "b") && @collection.jobs.id ?= "c"',
      'search_ = "a" && exists(jobs_, id = "c") || exists(jobs_, search_ = "b" && id = "c")',
    ],
  ] satisfies [string, string, RuleSlot?][])
    test(`${from} is ${to}`, () => assert.equal(translate(from, slot).to, to));

  for (const [text, why, slot] of [
    ['owner', 'expected an operator, found the end (character 6)'],
    ['lost = 1', 'jobs has no field "lost"'],
    ['owner.lost = 1', 'users has no field "lost"'],
    ['lost_via_owner.id ?= "a"', 'jobs has no field "lost_via_owner"'],
    ['@collection.lost.id ?= "a"', 'there is no collection "lost"'],
    ['@request.auth.lost = 1', 'no account has "lost"'],
    ['@request.body.search = "a"', '@request.body where no body is read'],
    ['@request.body.secret = "a"', '@request.body.secret: PocketBase drops hidden fields from the body', 'update'],
    ['@request.auth.id = id', '@request.auth.id in a rule about signing in', 'auth'],
    ['jobs_via_owner.id ?= "a"', 'a back-relation in a create rule: PocketBase refuses every create', 'create'],
    ['search = "a" || search ~ "%"', 'the pattern "%"'],
  ] satisfies [string, string, RuleSlot?][])
    test(`${text} is locked`, () => {
      const { to, result, why: reason } = translate(text, slot);
      assert.deepEqual({ to, result, reason }, { to: '', result: 'locked', reason: why });
    });

  test('about a field of accounts that keeps a name with another meaning is locked', () => {
    const { result, why } = translate('@request.auth.type = "a"', 'list', createDirectory(collections));
    assert.equal(result, 'locked');
    assert.match(why ?? '', /another name/);
  });

  for (const [text, to, meant] of [
    ['helpers ?= @request.auth.id', '1 = 2', 'helpers.id ?= …'],
    ['@request.auth.id = helpers', '1 = 2', 'helpers.id ?= …'],
    ['helpers = @request.auth.org', '1 = 2', 'helpers.id ?= …'],
    ['author = "a" || kinds = "bug"', 'author = "a"', 'kinds:each ?= …'],
    ['kinds != "bug"', 'id != null', 'kinds:each != …'],
    ['helpers = ""', '1 = 2', 'helpers:length = 0'],
    ['helpers != ""', 'id != null', 'helpers:length > 0'],
  ] as const)
    test(`${text} compares a whole list, most likely by mistake`, () => {
      const { to: ours, result, why } = translateTask(text);
      assert.deepEqual({ ours, result }, { ours: to, result: 'exact' });
      assert.match(why ?? '', /most likely a mistake/);
      assert.ok(why?.includes(`${meant} was meant`), why ?? '');
    });

  for (const [text, to] of [
    ['helpers.id ?= @request.auth.id', 'helpers = @request.auth.id'],
    ['kinds = "[]"', 'kinds = null'],
    ['kinds ~ "bug"', 'kinds ~ "bug"'],
  ] as const)
    test(`${text} is not a mistake`, () => {
      const { to: ours, why } = translateTask(text);
      assert.equal(ours, to);
      assert.doesNotMatch(why ?? '', /mistake/);
    });

  for (const text of [
    'helpers = @request.auth.email',
    'helpers != @request.auth.id',
    'author.teams = @request.auth.id',
  ])
    test(`${text}, a list and a text that may equal it, is locked`, () => {
      assert.equal(translateTask(text).result, 'locked');
    });

  test('that finds nothing in a list which some accounts lack is locked', () => {
    const tags = { name: 'tags', type: 'select', maxSelect: 3, values: ['a'] };
    const staff: PocketBaseCollection = { ...users, id: 'pbc_staff', name: 'staff', fields: [id, tags] };
    const text = '@request.auth.tags ~ ""';
    assert.equal(translate(text, 'list', createDirectory([staff, jobs])).to, '@request.auth.id != ""');
    assert.equal(translate(text, 'list', createDirectory([users, staff, jobs])).result, 'locked');
  });

  test('that never holds admits no one', () => {
    assert.deepEqual(translate('1 = 2').to, '1 = 2');
    assert.equal(translate('1 = 2').result, 'exact');
  });

  test('with too many alternatives that share a record is locked', () => {
    const one = '(@collection.jobs.id ?= "a" || @collection.jobs.search ?= "b")';
    assert.equal(translate(Array(8).fill(one).join(' && ')).result, 'locked');
  });
});

describe('an address that an account may lack', () => {
  const people = table.find('people');
  assert.ok(people);
  const translatePerson = (text: string) => translateRule(text, 'list', people, table);

  for (const [from, to] of [
    ['email = ""', 'email ~ "@users.invalid"'],
    ['email != ""', 'email !~ "@users.invalid"'],
    ['email = "a@b.c"', 'email = "a@b.c"'],
    ['email ~ "@b.c"', 'email ~ "@b.c" && email !~ "@users.invalid"'],
    ['email !~ "@b.c"', 'email !~ "@b.c" || email ~ "@users.invalid"'],
    [
      'email != @request.auth.email',
      'email != @request.auth.email && (email !~ "@users.invalid" || @request.auth.email != "" && @request.auth.email !~ "@users.invalid")',
    ],
    ['org.people_via_org.email ?= "a@b.c"', 'org.people_via_org.email = "a@b.c"'],
  ] as const)
    test(`${from} is ${to}`, () => assert.equal(translatePerson(from).to, to));

  test('is not empty when PocketBase requires it', () => {
    const strict = { ...people, fields: people.fields.map((one) => ({ ...one, required: one.name === 'email' })) };
    const { to } = translateRule('@request.auth.email != ""', 'list', strict, createDirectory([strict]));
    assert.equal(to, '@request.auth.email != ""');
  });

  for (const text of ['org.people_via_org.email = ""', 'email:length = 0'])
    test(`${text} is locked`, () => assert.equal(translatePerson(text).result, 'locked'));
});

describe("a client's filter", () => {
  const filter = (text: string) => translateFilter(text, tasks, table);

  for (const [from, to] of [
    ['labels.name ?= "bug"', 'labels.name = "bug"'],
    ['title ~ "ä"', 'title ~ "ä"'],
    ['title > "a"', 'title > "a"'],
    ['meta.rank > 5', 'meta.rank > 5'],
    ['rank ~ "5"', 'rank ~ "5"'],
  ] as const)
    test(`${from} is ${to}`, () => assert.equal(filter(from), to));

  for (const [text, message] of [
    ['author = @request.auth.id', '@request.auth.id, which is for rules'],
    ['@collection.members.id ?= "a"', '@collection.members.id, which is for rules'],
    ['title ~ "a%"', 'the pattern "a%"'],
    ['title = ', 'expected a field or a value, found the end (character 9)'],
    ['secret = 1', 'tasks has no field "secret"'],
  ] as const)
    test(`${text} is refused`, () =>
      assert.throws(
        () => filter(text),
        (error) => error instanceof UntranslatableFilter && error.message === message,
      ));
});
