import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { at, listAt } from '../harness/json.ts';
import { runCli } from '../harness/processes/cli.ts';
import { startCannedServer } from '../harness/servers/canned-server.ts';
import { jsonSchemaProblems, wrongMembers } from './json-schema-problems.ts';
import { testMailFiles } from './schema-mails.ts';
import { defineSchema, filesIn, startForSchema } from './schema-stack.ts';

suite('schema files on the command line', async () => {
  const tidying = new AsyncDisposableStack();
  after(() => tidying.disposeAsync());
  const root = mkdtempSync(join(tmpdir(), 'schema-'));
  tidying.defer(async () => rmSync(root, { recursive: true }));
  const [here, elsewhere] = [await startForSchema(tidying), await startForSchema(tidying)];
  const directory = join(root, 'schema');
  const planFile = join(root, 'plan.json');
  const write = (name: string, text: string, folder = directory) => {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  const read = (name: string) => readFileSync(join(directory, name), 'utf8');
  const edit = (name: string, change: (file: Record<string, unknown>) => object) =>
    write(name, `${JSON.stringify(change(JSON.parse(read(name))), undefined, 2)}\n`);
  const fieldsOf = (file: Record<string, unknown>) => file.fields as Record<string, unknown>[];

  const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
  await defineSchema(here.admin, secret);

  await test('pull writes small files without secrets, the same from the stack and from its database', async () => {
    const pulled = await here.overHttp(['pull', directory]);
    assert.equal(pulled.code, 0, pulled.stderr);
    const files = filesIn(directory);
    assert.deepEqual(Object.keys(files), [
      '.json-schema/collection.json',
      '.json-schema/settings.json',
      '.json-schema/webhook.json',
      'collections/authors.json',
      'collections/people.json',
      'collections/posts.json',
      'collections/titles.json',
      'settings.json',
      'webhooks/CRM (new).json',
    ]);
    assert.doesNotMatch(Object.values(files).join(), /whsec_|Bearer|hidden|created_at|updated_at/);
    const settings: unknown = JSON.parse(read('settings.json'));
    assert.deepEqual(settings, {
      $schema: './.json-schema/settings.json',
      'rate_limit.enabled': '0',
      'smtp.host': 'mail.example.com',
      'smtp.pass': { $env: 'SMTP_PASS' },
    });
    const again = await here.overDatabase(['pull', directory]);
    assert.deepEqual([again.code, again.stdout], [0, 'The files match the database.\n'], again.stderr);
    assert.deepEqual(filesIn(directory), files);
  });

  await test('pulled files name the JSON Schemas next to them, with which editors check them [schema §7.6]', async () => {
    const posts = 'collections/posts.json';
    for (const name of Object.keys(filesIn(directory)).filter((file) => !file.startsWith('.')))
      assert.deepEqual(jsonSchemaProblems(join(directory, name)), [], name);
    for (const wrong of wrongMembers)
      assert.notDeepEqual(
        jsonSchemaProblems(join(directory, posts), (file) => ({ ...file, ...wrong })),
        [],
        JSON.stringify(wrong),
      );
    const kept = read(posts);
    edit(posts, ({ $schema: _, ...file }) => file);
    const without = read(posts);
    assert.match((await here.overHttp(['pull', directory])).stdout, /^The files match/);
    assert.equal(read(posts), without, 'a file that names none keeps none');
    write(posts, kept);
  });

  const secrets = { SMTP_PASS: 'hidden', WEBHOOK_CRM_NEW_SECRET: secret, WEBHOOK_CRM_NEW_AUTHORIZATION: 'Bearer x' };

  await test('pull, apply elsewhere, pull: the same files, byte for byte', async () => {
    const planned = await elsewhere.overHttp(['plan', directory, '--out', planFile]);
    assert.equal(planned.code, 2, planned.stderr);
    assert.match(planned.stdout, /^7 changes to http.*:\n\+ collection authors\n/);
    assert.match(planned.stdout, /settings\.smtp\.pass needs the variable SMTP_PASS\./);
    assert.doesNotMatch(readFileSync(planFile, 'utf8'), /whsec_|Bearer|hidden/);
    const withoutSecrets = await elsewhere.overHttp(['apply', planFile]);
    assert.equal(withoutSecrets.code, 1);
    assert.match(withoutSecrets.stderr, /settings\.smtp\.pass: needs the variable SMTP_PASS/);
    const applied = await elsewhere.overHttp(['apply', planFile], secrets);
    assert.equal(applied.code, 0, applied.stderr);
    const copy = join(root, 'copy');
    assert.equal((await elsewhere.overDatabase(['pull', copy])).code, 0);
    assert.deepEqual(filesIn(copy), filesIn(directory));
    const nothing = await elsewhere.overHttp(['check', directory], secrets);
    assert.deepEqual([nothing.code, nothing.stderr], [0, '']);
    assert.match(nothing.stdout, /^Nothing to do: http/);
  });

  await test('a plan looks like a diff and names losses; an apply drops only what is allowed', async () => {
    await here.admin.create('posts', { title: 'a', state: 'open' });
    edit('collections/posts.json', (file) => ({
      ...file,
      list_rule: 'headline != ""',
      fields: fieldsOf(file)
        .filter(({ name }) => name !== 'state')
        .map((field) => (field.name === 'title' ? { ...field, name: 'headline' } : field)),
      indexes: [{ name: 'by_title', columns: ['headline', 'id'] }],
    }));
    edit('collections/titles.json', (file) => ({ ...file, view_query: 'select id, headline from posts' }));
    const planned = await here.overDatabase(['plan', directory, '--out', planFile]);
    assert.equal(planned.code, 2, planned.stderr);
    for (const line of [
      '~ collection posts',
      '    list_rule: "author.name != \\"\\"" → "headline != \\"\\""',
      '> field posts.headline, before title',
      '- field posts.state (loses 1 value)',
      '  posts: reads and writes wait (drop state, rename title); 1 record',
      `To apply: schema apply ${planFile} --allow-drop posts.state`,
    ])
      assert.ok(planned.stdout.includes(`${line}\n`), `${line}\n\n${planned.stdout}`);
    const refused = await here.overDatabase(['apply', planFile, '--json']);
    assert.equal(refused.code, 1);
    assert.deepEqual(JSON.parse(refused.stderr), {
      error: 'The apply would drop something. If you want that, add --allow-drop posts.state',
      code: 'drop_not_allowed',
      details: { 'posts.state': 'would be dropped' },
    });
  });

  await test('when two apply at once, one succeeds and the other ends with 3, like an apply after a change by hand', async () => {
    const allowed = ['apply', planFile, '--allow-drop', 'posts.state'];
    const both = await Promise.all([here.overDatabase(allowed), here.overHttp(allowed)]);
    assert.deepEqual(both.map(({ code }) => code).sort(), [0, 3], both.map(({ stderr }) => stderr).join());
    assert.match(
      both.find(({ code }) => code === 3)?.stderr ?? '',
      /the schema has changed since the plan: plan again/,
    );
    const posts = listAt((await here.admin.get('/api/v1/posts')).json, 'data');
    assert.deepEqual([posts[0]?.headline, posts[0]?.state], ['a', undefined]);
    edit('collections/people.json', (file) => ({ ...file, list_rule: 'nick != ""' }));
    assert.equal((await here.overHttp(['plan', directory, '--out', planFile])).code, 2);
    await here.admin.patch('/api/v1/collections/posts', { view_rule: '' });
    const moved = await here.overHttp(['apply', planFile]);
    assert.deepEqual([moved.code, moved.stdout], [3, '']);
  });

  await test('data migrations run once, and their texts are pulled', async () => {
    write('migrations/0001-shout.sql', 'update posts set headline = upper(headline);\n');
    assert.equal((await here.overHttp(['plan', directory, '--out', planFile])).code, 2);
    const applied = await here.overHttp(['apply', planFile]);
    assert.match(applied.stdout, /^\* migration 0001-shout$/m, applied.stderr);
    assert.equal(listAt((await here.admin.get('/api/v1/posts')).json, 'data')[0]?.headline, 'A');
    assert.equal((await here.overHttp(['check', directory])).code, 0);
    const copy = join(root, 'with-migrations');
    assert.equal((await here.overHttp(['pull', copy])).code, 0);
    assert.deepEqual(filesIn(copy), filesIn(directory));
    const audit = listAt((await here.admin.get('/api/v1/admin/audit?action=schema.apply')).json, 'data');
    assert.deepEqual(at(audit[0], 'details.changes'), [
      'change collection people',
      'change collection posts',
      'run migration 0001-shout',
    ]);
  });

  await test('a collection may be TypeScript, which pull leaves alone', async () => {
    const folder = join(root, 'typed');
    assert.equal((await here.overHttp(['pull', folder])).code, 0);
    const { $schema: _, name, ...rest } = JSON.parse(readFileSync(join(folder, 'collections/people.json'), 'utf8'));
    rmSync(join(folder, 'collections/people.json'));
    write(
      'collections/people.ts',
      `import { defineCollection } from '@recordbus/extensions';
const name: string = ${JSON.stringify(name)};
export const collection = defineCollection({ name, ...${JSON.stringify(rest)} as object });\n`,
      folder,
    );
    // Without a package.json, and with the one from npm init.
    for (const type of [undefined, 'commonjs', 'module']) {
      if (type !== undefined) write('package.json', JSON.stringify({ type }), folder);
      const check = await here.overHttp(['check', folder]);
      assert.deepEqual([check.code, check.stderr], [0, ''], type);
    }
    assert.equal((await here.overHttp(['pull', folder])).code, 0);
    assert.ok(!readdirSync(join(folder, 'collections')).includes('people.json'));
    write('collections/people.ts', '\n\nthrow new Error("broken");\n', folder);
    const broken = await here.overHttp(['check', folder]);
    assert.equal(broken.code, 1);
    assert.match(broken.stderr, /people\.ts:3: cannot be loaded: broken/);
  });

  await test('errors in files name the file, the line and the problem', async () => {
    const bad = join(root, 'bad');
    const refusal = async (files: Record<string, string>) => {
      rmSync(bad, { recursive: true, force: true });
      for (const [name, text] of Object.entries({ 'collections/.gitkeep': '', ...files })) write(name, text, bad);
      const { code, stdout, stderr } = await here.overHttp(['check', bad]);
      assert.deepEqual([code, stdout], [1, ''], stderr);
      return stderr.replaceAll(`${bad}/`, '');
    };
    const posts = (text: string) => refusal({ 'collections/posts.json': text });
    assert.match(await posts('{\n  "name": "posts",\n}\n\n'), /posts\.json:3: is not JSON: there is } where/);
    assert.match(await posts('{"name": "posts",\n "name": "posts"}'), /posts\.json:2: has the member "name" twice/);
    assert.match(await posts('[]'), /posts\.json:1: must be an object/);
    const typed = "export const collection = {\n name: 'posts',\n fields: [\n {\n name: 'title',\n type: 'txt' }] };";
    assert.match(await refusal({ 'collections/posts.ts': typed }), /posts\.ts:6: .*title\.type: must be one of/);
    assert.match(
      await posts('{\n  "name": "other"\n}'),
      /posts\.json:2: has the name "other", but the file is named posts/,
    );
    assert.match(
      await posts('{"name": "posts",\n "lst_rule": null}'),
      /posts\.json:2: collections\.posts\.lst_rule: is not known here/,
    );
    assert.match(
      await posts('{"name": "posts", "fields": [\n{"name": "a", "type": "text"},\n{"name": "b",\n "type": "txt"}]}'),
      /posts\.json:4: collections\.posts\.fields\.b\.type: must be one of/,
    );
    assert.match(
      await posts('{"name": "posts",\n "indexes": [\n  {"name": "i", "columns": ["x"]}]}'),
      /posts\.json:3: collections\.posts\.indexes\.0\.columns: posts has no column "x"/,
    );
    assert.match(
      await refusal({ 'settings.json': '{\n "no.such": "1"}' }),
      /settings\.json:2: settings\.no\.such: is not known here/,
    );
    assert.match(
      await refusal({ 'webhooks/x.json': '{"name": "a.b",\n "url": 3,\n "events": ["*"]}' }),
      /x\.json:2: webhooks\.a\.b\.url: must be a URL/,
    );
    assert.match(await refusal({ 'migrations/9-x.sql': 'delete from posts;\ndrop table posts;' }), /9-x\.sql:(1|2): /);
    assert.match(
      await refusal({ 'migrations/9-x.sql': "update posts set title = 'a\n;\n" }),
      /9-x\.sql:1: unterminated quoted string at or near "'a ; "\n$/,
    );
    assert.match(await refusal({ 'migrations/x.sql': '' }), /x\.sql: is not named <number>-<name>\.sql/);
    assert.match(await refusal({ 'collections/posts.jsn': '' }), /posts\.jsn: is not a schema file/);
    assert.match(
      await refusal({ 'collections/a.json': '{"name":"a"}', 'collections/a.ts': '' }),
      /a\.ts: is the second file for a/,
    );
    rmSync(bad, { recursive: true });
    mkdirSync(join(bad, 'collections'), { recursive: true });
    symlinkSync('/etc/hostname', join(bad, 'collections/host.json'));
    assert.match((await here.overHttp(['check', bad])).stderr, /host\.json: is a symbolic link/);
    const pulled = await here.overHttp(['pull', join(bad, 'collections/host.json')]);
    assert.match(pulled.stderr, /host\.json is a symbolic link/);
    const missing = await here.overHttp(['check', join(root, 'nothing')]);
    assert.match(missing.stderr, /it has no folder collections\. Run schema pull first/);
    const noPlan = await here.overHttp(['apply', join(bad, 'plan.json')]);
    assert.deepEqual([noPlan.code, /Run schema plan first/.test(noPlan.stderr)], [1, true]);
  });

  await test("the mails' texts are files in mail, and the stack has what they say [schema §7.1]", () =>
    testMailFiles({ here, directory, planFile, secrets, write, read, edit }));

  await test('a snapshot is not applied to a readonly schema, but schema files are [schema §6]', async () => {
    const readonly = { SERVICE_SCHEMA: 'readonly' };
    const snapshot = join(root, 'snapshot.json');
    writeFileSync(snapshot, JSON.stringify({ version: 1, collections: [{ name: 'more' }] }));
    const refused = await runCli(['snapshot', 'apply', snapshot], {
      environment: { ...here.environment, ...readonly },
    });
    assert.deepEqual([refused.code, /^the schema is readonly/.test(refused.stderr)], [1, true], refused.stderr);
    assert.equal((await here.overDatabase(['plan', directory, '--out', planFile], readonly)).code, 0);
    assert.equal((await here.overDatabase(['apply', planFile], readonly)).code, 0);
  });

  await test('an apply that outlasts the gateway says that it may continue [schema §4.5]', async () => {
    await using gateway = await startCannedServer();
    const body = JSON.stringify({ error: 'the service admin does not answer in time', code: 'upstream_timeout' });
    gateway.answer({ '/api/v1/admin/schema/apply': { status: 504, body } });
    const { code, stderr } = await runCli(['schema', 'apply', planFile, '--url', gateway.url], { environment: {} });
    assert.equal(code, 1);
    assert.match(stderr, /^The apply takes longer than the gateway waits, and may continue: schema check says when/);
  });

  await test('a command line that cannot be read is not a plan with changes [schema §7.3]', async () => {
    for (const args of [
      ['plan', directory, '--no-such'],
      ['check', directory, 'more'],
      ['apply', '--allow-drop'],
      [],
    ]) {
      const { code, stdout } = await runCli(['schema', ...args], { environment: {} });
      assert.deepEqual([code, stdout], [1, ''], args.join(' '));
    }
  });

  await test('a stack that does not answer, and a key without a stack, are failures', async () => {
    const away = await runCli(['schema', 'check', directory, '--url', 'http://127.0.0.1:1'], { environment: {} });
    assert.deepEqual([away.code, away.stderr.startsWith('http://127.0.0.1:1 does not answer: ')], [1, true]);
    const wrongKey = await here.overHttp(['check', directory], { SERVICE_KEY: 'rbk_no' });
    assert.equal(wrongKey.code, 1);
    const keyAlone = await here.overDatabase(['check', directory, '--key', 'x']);
    assert.match(keyAlone.stderr, /--key needs --url/);
  });
});
