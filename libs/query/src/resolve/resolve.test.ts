import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeCollections, schemaOf, testCollection } from '../../test/world.ts';
import { QueryError } from '../query-error.ts';
import { checkRule } from '../rules/check-rule.ts';
import { compileExpression } from '../sql/expressions.ts';
import { createParameters } from '../sql/parameters.ts';
import type { Scope } from './scope.ts';

const collections = {
  ...makeCollections({ users: null, organizations: null }),
  accounts: { ...testCollection('accounts', [{ name: 'name' }]), type: 'auth' as const },
};
const schema = schemaOf(collections);
const { posts, accounts } = collections;

const compileIn = (audience: Scope['audience'], text: string, collection = posts) =>
  compileExpression(text, { collection, schema, audience }, { row: 't', stored: 't', parameters: createParameters() });

describe('a filter', () => {
  for (const text of [
    'comments_via_post.author.name ~ "x" && comments_via_post = "c1" && readers = "u1" && readers.name = "x"',
    'title in ("a", "b") && rank in (1, @now) && tags in ("a") && title in readers && tags in author.tags',
    'not (rank > 5 || not (title = "x"))',
    'all(tags = "a") && none(readers.name ~ "x") && all(comments_via_post.rank > 5)',
    'count(comments_via_post) > 2 && count(readers.organization) = 1 && tags:length < 3 && title:length > 5',
    'exists(comments, post = record.id && exists(memberships, user = record.author && kind = record.record.kind))',
    'distance(author.organization.place, 48.2, 16.4) < 5 && created > @yesterday && at < @monthEnd-1d',
    'id = "x" && created > 5 && updated_at < @now',
    'rank = "5"',
    'ok = 1 && ok != "false"',
    'title = 5 && title != true',
    'at > "2024-01-01" && at <= 1700000000.5',
    'tags = "a" && "a" != tags && tags ~ "x" && tags = title && tags = null',
    'meta = 5 && meta > "x" && meta.a.b = true && meta = title && meta.0 ~ "x"',
    'rank ~ 5 && ok ~ "tr" && at !~ 17',
    'title:lower = "x" && meta.a:lower = "y"',
    'rank > at',
    'author.organization.name = title',
    'parent.parent.parent.parent.parent.parent.title = "x"',
    '1 = 1 && "a" = "b" && null = null && 5 != null',
  ]) {
    it(`takes ${text}`, () => assert.ok(compileIn('client', text)));
  }

  const refused: [string, RegExp, number][] = [
    ['titel = 1', /^posts has no field "titel"$/, 0],
    ['title = open', /^posts has no field "open"; a text needs quotes: "open"$/, 8],
    ['order = 1', /posts has no field "order"/, 0],
    ['title = 1 && author.nam = 1', /^author has no field "nam"$/, 20],
    ['constructor = 1', /no field "constructor"/, 0],
    ['title.x = 1', /"title" in posts is not a relation/, 0],
    ['email = 1', /posts has no field "email"/, 0],
    ['password_hash = 1', /no field/, 0],
    ['secret = "x"', /the field "secret" in posts cannot be compared/, 0],
    ['parent.secret = "x"', /"secret" in parent cannot/, 7],
    ['parent.parent.parent.parent.parent.parent.parent.title = "x"', /at most 6 relations/, 42],
    ['rank > "abc"', /^"abc" cannot be read as a number$/, 7],
    ['rank = true', /true cannot be read as a number/, 7],
    ['rank = ""', /"" cannot be read as a number/, 7],
    ['rank = "1e5"', /cannot be read as a number/, 7],
    ['ok = 2', /2 cannot be read as true or false/, 5],
    ['at = "soon"', /"soon" cannot be read as unix seconds or a date/, 5],
    ['comments_via_title.rank = 1', /^posts has no field "comments_via_title"$/, 0],
    ['memberships_via_user.kind = "a"', /posts has no field "memberships_via_user"/, 0],
    ['exists(nothing, id = "x")', /^there is no collection "nothing"$/, 7],
    ['exists(comments, title = "x")', /^comments has no field "title"$/, 17],
    ['exists(comments, record.text = "x")', /^posts has no field "text"$/, 24],
    ['record.title = "x"', /posts has no field "record"/, 0],
    ['title in author', /in takes a list, or a path to several records/, 9],
    ['title in ("a", title)', /an item in in \(…\) must not be null/, 15],
    ['title in (null)', /an item in in \(…\) must not be null/, 10],
    ['rank in ("x")', /"x" cannot be read as a number/, 9],
    ['all("a" = tags)', /all takes a path on the left/, 0],
    ['all(tags > "a")', /a list has no order/, 4],
    ['readers > "a"', /a list has no order/, 0],
    ['count(title) > 1', /count takes a path to records, or to a list/, 6],
    ['count(tags:length) > 1', /count takes a path without :length/, 6],
    ['count(@request.auth.follows) > 1', /is for rules/, 6],
    ['rank:length = 1', /:length is for text and lists/, 0],
    ['distance(meta, 1, 1) < 5', /distance takes a geoPoint field/, 9],
    ['rank > null', /null can only be tested with = and !=/, 0],
    ['title ~ null', /null can only/, 0],
    ['tags > "a"', /a list has no order/, 0],
    ['title ~ tags', /a list can only be on the left of ~/, 8],
    ['tags = parent.tags', /two lists/, 0],
    ['title = rank', /a text and a number cannot be compared/, 0],
    ['rank:lower = "x"', /:lower is for text/, 0],
    ['title:isset = true', /:isset is for request values/, 0],
    ['title:changed = true', /:changed is for request values/, 0],
    ['@request.auth.id = "x"', /@request.auth.id is for rules/, 0],
    ['@request.nothing = "x"', /is for rules/, 0],
  ];
  for (const [text, message, position] of refused) {
    it(`refuses ${text}`, () =>
      assert.throws(
        () => compileIn('client', text),
        (error) => error instanceof QueryError && message.test(error.message) && error.position === position,
      ));
  }

  it('knows email and verified in auth collections', () => {
    assert.ok(compileIn('client', 'email ~ "@x.org" && verified = true', accounts));
  });

  it('hides the fields that its caller hides', () => {
    const hiding = { ...schema, isHidden: ({ name }: { name: string }) => name === 'title' };
    const scope = { collection: posts, schema: hiding, audience: 'admin' as const };
    assert.throws(
      () => compileExpression('title = 1', scope, { row: 't', parameters: createParameters() }),
      QueryError,
    );
  });

  it('refuses times in a view without them', () => {
    const view = { ...posts, type: 'view' as const, lacking: ['created_at' as const] };
    const scope = { collection: view, schema, audience: 'client' as const };
    assert.throws(
      () => compileExpression('created > 1', scope, { row: 't', parameters: createParameters() }),
      /no field "created"/,
    );
  });
});

describe('a rule over the request', () => {
  for (const text of [
    '@request.auth.id = author && @request.auth.email:lower ~ "@x.org" && @request.auth.type = "user"',
    '@request.auth.collection = "accounts" && @request.auth.verified = true',
    '@request.auth.factors = "mfa" && "totp" in @request.auth.factors && @request.auth.signed_in_at > @now-10m',
    '@request.method = "POST" && @request.query.page > 1 && @request.headers.x_key = "k"',
    '@request.body.title:isset = false && @request.body.rank:changed = false && @request.body.rank > 5',
    '@request.body.tags = "a" && @request.body.meta.a.b = 5',
    '@request.body.secret:isset = false',
    '@request.query.a:isset = true && @request.query.a = @request.query.b',
  ]) {
    it(`takes ${text}`, () => assert.ok(compileIn('rule', text)));
  }
  it("takes an auth record's credentials", () =>
    checkRule('@request.body.password:isset = false && @request.body.email:isset = false', {
      collection: accounts,
      schema,
      accounts: [accounts],
    }));

  const refused: [string, RegExp][] = [
    ['@request.auth.verified:lower = "true"', /:lower is for text/],
    ['@request.auth.factors:lower = "mfa"', /:lower is for text/],
    ['@request.auth.factors > 1', /a list/],
    ['@request.auth = "x"', /there is no @request.auth/],
    ['@request.cookies.x = "x"', /there is no @request.cookies.x/],
    ['@request.method.x = "x"', /there is no/],
    ['@request.headers.X_Key = "x"', /there is no @request.headers.X_Key/],
    ['@request.query = "x"', /there is no/],
    ['@request.body.titel:isset = false', /there is no @request.body.titel/],
    ['@request.body.author.name = "x"', /there is no @request.body.author.name/],
    ['@request.body.email = "x"', /there is no @request.body.email/],
    ['@request.auth.id:isset = true', /has no :isset/],
    ['@request.query.a:changed = true', /has no :changed/],
    ['@request.body.secret:changed = true', /has no :changed/],
    ['@request.body.rank > "abc"', /cannot be read as a number/],
    ['@request.auth.id > rank', /a text and a number cannot be compared/],
  ];
  for (const [text, message] of refused) {
    it(`refuses ${text}`, () =>
      assert.throws(
        () => compileIn('rule', text),
        (error) => error instanceof QueryError && message.test(error.message),
      ));
  }
});

describe("a caller's path", () => {
  const { users, staff } = collections;
  const compileFor = (caller: typeof users | undefined, text: string) =>
    compileExpression(
      text,
      { collection: posts, schema, audience: 'rule', caller },
      { row: 't', parameters: createParameters() },
    );

  it("is read once per statement, so the other side's index serves it", () => {
    assert.equal(
      compileFor(users, 'author.organization = @request.auth.organization'),
      'exists (select 1 from records."users" hop1 where hop1.id = t."author" and hop1."organization" = (select hop2."organization" from records."users" hop2 where hop2.id = $1::text))',
    );
    assert.equal(
      compileFor(users, 'author in @request.auth.memberships_via_user.organization'),
      't."author" = any(array(select hop2."organization" from records."users" hop1 join records."memberships" hop2 on hop2."user" = hop1.id where hop1.id = $1::text))',
    );
  });

  for (const text of [
    'author = @request.auth.level',
    '@request.auth.level > 5',
    'not (@request.auth.tags = "a")',
    '@request.auth.level = null',
    'not (@request.auth.level = null)',
    'not (exists(comments, rank > @request.auth.level))',
    'not (title in (@request.auth.level, "x"))',
  ])
    it(`fails ${text} for guests, and for accounts without it`, () => {
      assert.equal(compileFor(undefined, text), 'false');
      assert.equal(compileFor(staff, text), 'false');
    });

  const check = (text: string) => checkRule(text, { collection: posts, schema, accounts: [users, staff] });
  it('is checked in every account collection', () => {
    check('@request.auth.level > 5 && @request.auth.organization = author.organization');
    assert.throws(() => check('@request.auth.role = "x"'), /^QueryError: there is no @request.auth.role$/);
    assert.throws(() => check('@request.auth.organization.nam = "x"'), /no account has @request.auth.organization.nam/);
    assert.throws(() => check('@request.auth.organization > 5 && @request.auth.name > rank'), /a text and a number/);
  });
  it('cannot name what is hidden', () => {
    const hiding = { ...schema, isHidden: ({ name }: { name: string }) => name === 'level' };
    const scope = { collection: posts, schema: hiding, accounts: [users] };
    assert.throws(() => checkRule('@request.auth.level > 5', scope), /"level" in users cannot be compared/);
  });
});

describe('a collection that a client cannot see', () => {
  const messageOf = (text: string, guarded = makeCollections({ users: '', organizations: null, comments: '' })) => {
    const scope = { collection: guarded.posts, schema: schemaOf(guarded), audience: 'client' as const };
    try {
      return compileExpression(text, scope, { row: 't', parameters: createParameters() });
    } catch (error) {
      return error instanceof QueryError ? error.message.replaceAll('nothing', 'X') : String(error);
    }
  };
  for (const [real, made] of [
    ['author.name = 1', 'author.nothing = 1'],
    ['author.id = 1', 'author.nothing = 1'],
    ['comments_via_post.rank = 1', 'nothing.rank = 1'],
    ['count(comments_via_post) = 1', 'count(nothing) = 1'],
    ['exists(comments, rank = 1)', 'exists(nothing, rank = 1)'],
    ['exists(comments, nothing = 1)', 'exists(nothing, rank = 1)'],
  ] as const)
    it(`cannot be told from a missing one: ${real}`, () => {
      const hidden = messageOf(real).replace(/"(name|id|comments|comments_via_post)"/, '"X"');
      assert.equal(hidden, messageOf(made));
      assert.match(hidden, /X/);
    });

  it('is none with an expression: one that cannot hold for this kind of caller has no records for it', () => {
    const rules = {
      users: '@request.auth.id != "" && name = "x"',
      organizations: null,
      comments: 'author = @request.auth.id',
    };
    const guarded = makeCollections(rules);
    assert.match(messageOf('author.name = "a"', guarded), /^exists \(.* and false and /);
    for (const filter of [
      'count(comments_via_post) = 0',
      'exists(comments, rank = 1)',
      'none(comments_via_post.rank > 1)',
    ])
      assert.doesNotMatch(messageOf(filter, guarded), /no field|no collection/);
  });
});

describe('a statement', () => {
  it('uses a parameter for each request value, so that one text serves every caller', () => {
    const parameters = createParameters();
    const place = { row: 't', parameters };
    const text = 'author = @request.auth.id || parent.author = @request.auth.id && title = "x"';
    const condition = compileExpression(text, { collection: posts, schema, audience: 'rule' }, place);
    assert.match(condition, /^\(t\."author" = \$1::text or /);
    const auth = { id: 'u1', email: 'e', type: 'user' as const };
    const request = { method: 'GET', auth, body: undefined, query: () => undefined, header: () => undefined };
    assert.deepEqual(parameters.values(request), ['u1', 'x']);
    assert.throws(() => parameters.values(), /needs auth.id/);
  });

  it("compares a relation's id without following it if nothing can hide the target", () => {
    assert.equal(compileIn('client', 'author.id = "x"'), 't."author" = $1::text');
    const guarded = makeCollections({ users: 'name != "x"', organizations: null });
    const scope = { collection: guarded.posts, schema: schemaOf(guarded), audience: 'client' as const };
    assert.match(
      compileExpression('author.id = "x"', scope, { row: 't', parameters: createParameters() }),
      /^exists .* and hop1\."name" is distinct from \$1::text and hop1\.id = \$2::text\)$/,
    );
  });
});
