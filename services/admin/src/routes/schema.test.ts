import assert from 'node:assert/strict';
import { afterEach, suite, test } from 'node:test';
import { skip } from '../../test/test-admin.ts';
import { relation, testCollectionRoutes, text } from '../../test/test-collection-routes.ts';

type Members = Record<string, unknown>;
interface Schema {
  version: 1;
  collections: Members[];
  webhooks?: Members[];
  settings?: Members;
  migrations?: { name: string; sql: string }[];
}
interface Plan {
  hash: string;
  changes: Members[];
  drops: string[];
  locks: Members[];
  warnings: string[];
}

const schemaPath = '/api/v1/admin/schema';
const collections = (...files: Members[]): Schema => ({ version: 1, collections: files });

suite('the schema as files', { skip }, () => {
  const { call, rows, create, assertRefused } = testCollectionRoutes();

  async function pull(): Promise<Required<Schema>> {
    const { status, body } = await call('GET', schemaPath);
    assert.equal(status, 200, JSON.stringify(body));
    return body.data as Required<Schema>;
  }
  async function plan(schema: Schema, variables: Record<string, string> = {}): Promise<Plan> {
    const { status, body } = await call('POST', `${schemaPath}/plan`, { schema, variables });
    assert.equal(status, 200, JSON.stringify(body));
    return body.data as Plan;
  }
  const refusePlan = (schema: Schema) => call('POST', `${schemaPath}/plan`, { schema });
  const send = (schema: Schema, hash: string, more: Members = {}) =>
    call('POST', `${schemaPath}/apply`, { schema, hash, ...more });
  async function apply(schema: Schema, more: Members = {}) {
    const { hash } = await plan(schema);
    const { status, body } = await send(schema, hash, more);
    assert.equal(status, 200, JSON.stringify(body));
    return body.data as { hash: string; changes: Members[] };
  }
  afterEach(async () => {
    await rows('delete from system.schema_migrations');
    const empty: Schema = { version: 1, collections: [], webhooks: [], settings: {} };
    await apply(empty, { allow_drop: (await plan(empty)).drops });
    assert.deepEqual(await pull(), { ...empty, migrations: [] });
  });
  const namesOf = (changes: readonly Members[]) =>
    changes.map(({ action, kind, name, from }) => `${action} ${kind} ${name}${from ? ` from ${from}` : ''}`);
  const fileOf = async (name: string) => {
    const found = (await pull()).collections.find((file) => file.name === name);
    return (found ?? assert.fail(name)) as Members & { fields: Members[] };
  };
  const record = (table: string, members: Members) =>
    rows(
      `insert into records."${table}" (created_at, updated_at, ${Object.keys({ id: '', ...members }).join(', ')})
       values (1, 1, ${Object.keys({ id: '', ...members }).map((_, index) => `$${index + 1}`)})`,
      Object.values({ id: crypto.randomUUID(), ...members }),
    );

  test('an apply makes circular relations, rules over them, indexes and views, and a second plan has nothing to do', async () => {
    const schema = collections(
      {
        name: 'authors',
        list_rule: 'best.title != ""',
        fields: [text('name', { required: true }), relation('best', 'books')],
        indexes: [{ name: 'by_name', columns: ['name'], unique: true }],
      },
      {
        name: 'books',
        view_rule: 'author.name = "Ada"',
        fields: [
          text('title'),
          relation('author', 'authors'),
          relation('readers', 'people', { options: { multiple: true } }),
        ],
      },
      { name: 'people', type: 'auth', fields: [text('nick', { view_rule: 'id = @request.auth.id' })] },
      {
        name: 'titles',
        type: 'view',
        view_query: 'select b.id, b.title, a.name from books b join authors a on a.id = b.author',
      },
      {
        name: 'loud',
        type: 'view',
        view_query: 'select id, upper(title) as title from titles',
        list_rule: 'title != ""',
      },
    );
    const { changes } = await apply(schema);
    assert.deepEqual(
      namesOf(changes),
      schema.collections.map(({ name }) => `create collection ${name}`),
    );
    assert.deepEqual((await plan(schema)).changes, []);
    const files = await pull();
    assert.deepEqual((await plan(files)).changes, []);
    assert.equal((await call('GET', '/api/v1/collections/loud')).status, 200);
  });

  test('a field is renamed by its id and keeps its values; a dropped one has to be allowed by name', async () => {
    await create('posts', [text('title'), text('subtitle'), { name: 'rank', type: 'number' }]);
    await record('posts', { title: 'a', subtitle: 'b' });
    await record('posts', { title: 'c' });
    const posts = await fileOf('posts');
    const [title, , rank] = posts.fields;
    const schema = collections({
      ...posts,
      fields: [{ ...title, name: 'headline' }, rank as Members],
      list_rule: 'headline != ""',
    });
    const planned = await plan(schema);
    assert.deepEqual(namesOf(planned.changes), [
      'change collection posts',
      'rename field posts.headline from title',
      'drop field posts.subtitle',
    ]);
    assert.equal(planned.changes.at(-1)?.values, 1);
    assert.deepEqual(planned.drops, ['posts.subtitle']);
    assert.deepEqual(planned.locks, [
      {
        collection: 'posts',
        waits: 'reads and writes',
        reasons: ['drop subtitle', 'rename title'],
        rewrites: false,
        records: 2,
      },
    ]);
    const refused = await send(schema, planned.hash);
    assert.deepEqual(
      [refused.status, refused.body.code, refused.body.details],
      [422, 'drop_not_allowed', { 'posts.subtitle': 'would be dropped' }],
    );
    await apply(schema, { allow_drop: ['posts.subtitle'] });
    assert.deepEqual(await rows('select headline from records.posts order by 1'), [
      { headline: 'a' },
      { headline: 'c' },
    ]);
  });

  test('a key plans and applies settings and webhooks with their scopes only', async () => {
    const key = (...scopes: string[]) => ({ type: 'service', id: 'k1', scopes }) as const;
    const hash = (await plan(collections())).hash;
    const ask = async (scopes: string[], method: string, route: string, more: Members = {}) => {
      const body =
        method === 'GET' ? undefined : { schema: { ...collections(), ...more }, ...(route === '/apply' && { hash }) };
      return (await call(method, `${schemaPath}${route}`, body, key(...scopes))).status;
    };
    assert.equal(await ask(['collections:read'], 'POST', '/plan'), 403);
    assert.equal(await ask(['collections:apply'], 'POST', '/plan'), 200);
    assert.equal(await ask(['collections:apply'], 'POST', '/apply'), 200);
    for (const part of [{ settings: {} }, { webhooks: [] }]) {
      const [name = ''] = Object.keys(part);
      assert.equal(await ask(['collections:apply'], 'POST', '/plan', part), 403);
      assert.equal(await ask(['collections:apply', `${name}:read`], 'POST', '/plan', part), 200);
      assert.equal(await ask(['collections:apply', `${name}:read`], 'POST', '/apply', part), 403);
      assert.equal(await ask(['collections:apply', `${name}:write`], 'POST', '/apply', part), 200);
      assert.equal(await ask(['admin'], 'POST', '/apply', part), 200);
    }
    const read = await call('GET', schemaPath, undefined, key('collections:read', 'settings:read'));
    assert.deepEqual(Object.keys(read.body.data as Members).sort(), [
      'collections',
      'migrations',
      'settings',
      'version',
    ]);
  });

  test('collections and fields swap names in one apply, and views follow by their new queries', async () => {
    await create('cats', [text('a'), text('b')]);
    await create('dogs', [relation('friend', 'cats')], { list_rule: 'friend.a = "x"' });
    await create('named', [], { type: 'view', view_query: 'select id, a from cats' });
    await record('cats', { a: 'x', b: 'y' });
    const { collections: files } = await pull();
    const swapped = files.map((file) => {
      const fields = file.fields as Members[];
      if (file.name === 'cats')
        return {
          ...file,
          name: 'dogs',
          fields: fields.map((field) => ({ ...field, name: field.name === 'a' ? 'b' : 'a' })),
        };
      if (file.name === 'dogs')
        return {
          ...file,
          name: 'cats',
          fields: fields.map((field) => ({ ...field, collection: 'dogs' })),
          list_rule: 'friend.b = "x"',
        };
      return { ...file, view_query: 'select id, b as a from dogs' };
    });
    const schema = collections(...swapped);
    assert.deepEqual(namesOf((await plan(schema)).changes), [
      'rename collection dogs from cats',
      'rename field dogs.b from a',
      'rename field dogs.a from b',
      'rename collection cats from dogs',
      'change collection cats',
      'change field cats.friend',
      'change collection named',
    ]);
    await apply(schema);
    assert.deepEqual(await rows('select a, b from records.dogs'), [{ a: 'y', b: 'x' }]);
    assert.deepEqual(await rows('select a from records.named'), [{ a: 'x' }]);
    assert.deepEqual((await plan(schema)).changes, []);
  });

  test('an apply of an old plan is refused, and of two at once one wins', async () => {
    await create('posts', [text('title')]);
    const posts = await fileOf('posts');
    const schema = (rule: string) => collections({ ...posts, list_rule: rule });
    const { hash } = await plan(schema('title = "a"'));
    await call('PATCH', '/api/v1/collections/posts', { view_rule: '' });
    const moved = await send(schema('title = "a"'), hash);
    assert.deepEqual([moved.status, moved.body.code], [409, 'schema_moved']);
    const now = (await plan(schema('title = "a"'))).hash;
    const both = await Promise.all(['a', 'b'].map((text) => send(schema(`title = "${text}"`), now)));
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409]);
  });

  test('what cannot be done is refused with its reason, and a failure leaves nothing', async () => {
    await create('posts', [text('title'), text('slug')]);
    await record('posts', { title: 'a' });
    await record('posts', { title: 'a' });
    const posts = await fileOf('posts');
    const withTitle = (change: Members) =>
      collections({
        ...posts,
        fields: posts.fields.map((field) => (field.name === 'title' ? { ...field, ...change } : field)),
      });
    assertRefused(await refusePlan(withTitle({ type: 'number' })), 422, {
      'collections.posts.fields.title.type': 'cannot change from text: drop the field and add it again',
    });
    assertRefused(await refusePlan(withTitle({ options: { unique: true } })), 422, {
      'collections.posts.fields.title.options.unique': '2 rows violate it',
    });
    assertRefused(
      await refusePlan(collections({ ...posts, indexes: [{ name: 'one', columns: ['title'], unique: true }] })),
      422,
      { 'collections.posts.indexes.0.unique': '2 rows violate it' },
    );
    assertRefused(
      await refusePlan(collections({ ...posts, fields: posts.fields.map((field) => ({ ...field, required: true })) })),
      422,
      { 'collections.posts.fields.slug.required': '2 rows violate it' },
    );
    assertRefused(await refusePlan(collections({ ...posts, list_rule: 'headline = 1' })), 422, {
      'collections.posts.list_rule': 'posts has no field "headline"',
    });
    assertRefused(
      await refusePlan(collections(posts, { name: 'v', type: 'view', view_query: 'select id, nothing from posts' })),
      422,
      { 'collections.v.view_query': 'column "nothing" does not exist' },
    );
    const before = await pull();
    const failing: Schema = {
      version: 1,
      collections: [
        { ...posts, list_rule: '' },
        { name: 'more', fields: [text('x')] },
      ],
      migrations: [
        { name: '1-fail', sql: "insert into more (x) values ('y');\ninsert into more (id) values ('a b');" },
      ],
    };
    const answer = await send(failing, (await plan(failing)).hash);
    assertRefused(answer, 422, { 'migrations.1-fail': 'line 2: the id "a b" is not a valid id' });
    assert.deepEqual(await pull(), before);
    assert.deepEqual(await rows("select to_regclass('records.more') as made"), [{ made: null }]);
  });

  test('a migration fills a field that becomes required, runs once, and may not change', async () => {
    await create('posts', [text('title')]);
    await record('posts', { title: 'Hello World' });
    const posts = await fileOf('posts');
    const migration = { name: '0001-slugs', sql: "update posts set slug = lower(replace(title, ' ', '-'));" };
    const schema: Schema = {
      ...collections({ ...posts, fields: [...posts.fields, text('slug', { required: true })] }),
      migrations: [migration],
    };
    const planned = await plan(schema);
    assert.deepEqual(namesOf(planned.changes), ['create field posts.slug', 'run migration 0001-slugs']);
    assert.match(planned.warnings.join(), /slug\.required: 1 records have no value/);
    await apply(schema);
    assert.deepEqual(await rows('select slug, updated_at > 1 as fresh from records.posts'), [
      { slug: 'hello-world', fresh: true },
    ]);
    const files = await pull();
    assert.deepEqual(files.migrations, [migration]);
    assert.deepEqual((await plan(files)).changes, []);
    assertRefused(await refusePlan({ ...files, migrations: [{ ...migration, sql: `${migration.sql} ` }] }), 422, {
      'migrations.0001-slugs': 'ran and has changed since: add another migration',
    });
  });

  test('records that a migration deletes leave their versions, and a broken reference is refused [schema §5.5]', async () => {
    await create('posts', [text('title')]);
    await create('comments', [relation('post', 'posts')]);
    await record('posts', { id: 'p1', title: 'a' });
    await record('posts', { id: 'p2', title: 'b' });
    await record('comments', { post: 'p2' });
    const files = await pull();
    const { hash } = await plan(files);
    const run = (sql: string) => send({ ...files, migrations: [{ name: '1-x', sql }] }, hash);
    const broken = await run("delete from posts where id = 'p2'");
    assert.match(String(broken.body.details?.['migrations.1-x']), /^line 1: .* violates foreign key/);
    assert.equal((await run("delete from posts where id = 'p1'")).status, 200);
    const left =
      'select d.record_id, c.name from system.deleted_versions d join system.collections c on c.id = collection_id';
    assert.deepEqual(await rows(left), [{ record_id: 'p1', name: 'posts' }]);
    const triggers = "select count(*) as count from pg_trigger where tgname like 'migrated%'";
    assert.deepEqual(await rows(triggers), [{ count: 0 }]);
  });

  test('a collection does not come back while the files of the dropped one are removed [schema §4.5]', async () => {
    await create('docs', [{ name: 'file', type: 'file' }]);
    const files = await pull();
    await apply({ ...files, collections: [] }, { allow_drop: ['docs'] });
    const refused = await send(files, (await plan(files)).hash);
    assert.deepEqual([refused.status, refused.body.code], [409, 'files_being_removed']);
    await rows('delete from system.file_removals');
    await apply(files);
    assert.deepEqual((await pull()).collections, files.collections);
  });

  test('migrations reach nothing but the open fields of collections', async () => {
    await create('notes', [text('title'), { name: 'secret', type: 'text', options: { encrypted: true } }]);
    await create('people', [text('nick')], { type: 'auth' });
    const files = await pull();
    const refusals: readonly [string, RegExp][] = [
      ['select 1', /line 1: must be an insert, an update or a delete/],
      ['\n\ndrop table posts', /line 3: must be/],
      ['update system.admins set email = null', /must name collections without a schema/],
      ["update notes set title = (select string_agg(rolname, ',') from pg_roles)", /no collection "pg_roles"/],
      [
        'with pg_roles as (select rolname from pg_roles) update notes set title = (select max(rolname) from pg_roles)',
        /must not name a CTE/,
      ],
      [
        'with a as (update system.admins set email = null returning 1) update notes set title = null',
        /must not contain UPDATE/,
      ],
      ["update notes set title = pg_read_file('/etc/passwd')", /must not call the function pg_read_file/],
      ['update notes set title = current_user', /must not read the user/],
      ['delete from people', /accounts of "people" can only be updated/],
      ['update notes set', /line 1: syntax error/],
    ];
    for (const [sql, message] of refusals) {
      const { status, body } = await refusePlan({ ...files, migrations: [{ name: '1-x', sql }] });
      assert.equal(status, 422, sql);
      assert.match(String(body.details?.['migrations.1-x']), message, sql);
    }
    const { hash } = await plan(files);
    for (const [sql, message] of [
      ['update notes set title = secret', /column "secret" does not exist/],
      ['update people set nick = password_hash', /column "password_hash" does not exist/],
      ["update people set email = 'me@example.com'", /cannot update column "email"/],
      ['update notes set title = (select to_jsonb(p)::text from people p)', undefined],
    ] as const) {
      const schema = { ...files, migrations: [{ name: '1-x', sql }] };
      const { status, body } = await send(schema, hash);
      if (message === undefined) assert.equal(status, 200, JSON.stringify(body));
      else assert.match(String(body.details?.['migrations.1-x']), message, `${status} ${sql}`);
    }
  });

  test('webhooks and settings are compared, and secrets come from variables', async () => {
    const schema: Schema = {
      ...collections(),
      webhooks: [
        {
          name: 'CRM',
          url: 'https://crm.example.com/hook',
          events: ['posts.*'],
          secret: { $env: 'CRM_SECRET' },
          headers: { Authorization: { $env: 'CRM_TOKEN' } },
        },
      ],
      settings: { 'smtp.host': 'mail.example.com', 'smtp.pass': { $env: 'MAIL' } },
    };
    const planned = await plan(schema);
    assert.deepEqual(planned.warnings, [
      'settings.smtp.pass needs the variable MAIL.',
      'webhooks.CRM.headers.Authorization needs the variable CRM_TOKEN.',
      'webhooks.CRM.secret needs the variable CRM_SECRET.',
    ]);
    assertRefused(await send(schema, planned.hash), 422, {
      'settings.smtp.pass': 'needs the variable MAIL',
      'webhooks.CRM.secret': 'needs the variable CRM_SECRET',
      'webhooks.CRM.headers.Authorization': 'needs the variable CRM_TOKEN',
    });
    const variables = {
      MAIL: 'pw',
      CRM_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
      CRM_TOKEN: 'Bearer x',
    };
    await apply(schema, { variables });
    const files = await pull();
    assert.deepEqual(files.settings, { 'smtp.host': 'mail.example.com', 'smtp.pass': { $env: 'SMTP_PASS' } });
    assert.doesNotMatch(JSON.stringify(files), /whsec_|Bearer|"pw"/);
    assert.deepEqual((await plan(schema, variables)).changes, []);
    assert.deepEqual((await plan(files)).changes, [], 'without variables, secrets stay');
    const other = await plan(schema, { ...variables, MAIL: 'other' });
    assert.deepEqual(other.changes, [
      {
        action: 'change',
        kind: 'setting',
        name: 'smtp.pass',
        changed: [{ member: 'value', before: '(secret)', after: { $env: 'MAIL' } }],
      },
    ]);
    const wrong = { 'smtp.pass': 'pw', 'no.such': '1', 'update_check.error': 'x' };
    assertRefused(await refusePlan({ ...schema, settings: wrong }), 422, {
      'settings.smtp.pass': 'is a secret, which does not belong in a file: write {"$env": "<variable>"}',
      'settings.no.such': 'is not known here',
      'settings.update_check.error': 'is written by the product and belongs in no file',
    });
  });
});
