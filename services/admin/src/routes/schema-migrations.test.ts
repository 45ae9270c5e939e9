import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { skip } from '../../test/test-admin.ts';
import { relation, text } from '../../test/test-collection-routes.ts';
import { collections, type Schema, testSchemaRoutes } from '../../test/test-schema-routes.ts';

suite('data migrations, webhooks and settings of the schema as files', { skip }, () => {
  const { rows, create, assertRefused, pull, plan, refusePlan, send, apply, namesOf, fileOf, record } =
    testSchemaRoutes();

  test('a migration fills a field that becomes required, runs once, and cannot change', async () => {
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
    assert.match(planned.warnings.join(), /slug\.required: 1 record has no value;/);
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

  test('a migration that leaves a record without a required value fails the apply, with the number [schema §3.5]', async () => {
    await create('posts', [text('title')]);
    for (const title of ['a', 'b', 'c']) await record('posts', { title });
    const posts = await fileOf('posts');
    const schema: Schema = {
      ...collections({ ...posts, fields: [...posts.fields, text('slug', { required: true })] }),
      migrations: [{ name: '1-slugs', sql: "update posts set slug = title where title = 'a'" }],
    };
    const before = await pull();
    const planned = await plan(schema);
    assert.match(planned.warnings.join(), /slug\.required: 3 records have no value; the migrations have to fill it in/);
    assertRefused(await send(schema, planned.hash), 422, {
      'collections.posts.fields.slug.required': '2 records have no value',
    });
    assert.deepEqual(await pull(), before);
  });

  test("a migration's deletes keep the records' versions, and a broken reference is refused [schema §5.5]", async () => {
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

  test("a collection cannot be recreated while the dropped one's files are being removed [schema §4.5]", async () => {
    await create('docs', [{ name: 'file', type: 'file' }]);
    const files = await pull();
    await apply({ ...files, collections: [] }, { allow_drop: ['docs'] });
    const refused = await send(files, (await plan(files)).hash);
    assert.deepEqual([refused.status, refused.body.code], [409, 'files_being_removed']);
    await rows('delete from system.file_removals');
    await apply(files);
    assert.deepEqual((await pull()).collections, files.collections);
  });

  test("migrations can access only collections' open fields", async () => {
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
