import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { runCli } from '../harness/cli.ts';
import { textAt } from '../harness/json.ts';
import { createGround, environmentOf, firstAdmin, repository, startStack } from '../harness/stack.ts';
import { createStrictProject } from '../harness/strict-project.ts';

/** A field for each type, required and optional, and names that other languages reserve. */
const everyField = [
  { name: 'class', type: 'text', required: true },
  { name: 'toString', type: 'text' },
  { name: 'constructor', type: 'text' },
  { name: 'then', type: 'number' },
  { name: 'new', type: 'bool', required: true },
  { name: 'mail', type: 'email' },
  { name: 'home', type: 'url' },
  { name: 'body', type: 'editor' },
  { name: 'day', type: 'date', required: true, options: { default: '@now' } },
  { name: 'changed', type: 'autodate', onUpdate: true },
  { name: 'kind', type: 'select', required: true, options: { values: ['a', 'it\'s "b"'] } },
  { name: 'kinds', type: 'select', options: { values: ['a', 'b'], multiple: true } },
  { name: 'meta', type: 'json' },
  { name: 'secret', type: 'password' },
  { name: 'place', type: 'geoPoint' },
  { name: 'vec', type: 'vector', options: { dimensions: 2 } },
  { name: 'cover', type: 'file' },
  { name: 'pages', type: 'file', options: { multiple: true } },
  { name: 'hidden', type: 'text', view_rule: 'class = "x"' },
  { name: 'parent', type: 'relation', collection: 'class' },
  { name: 'owners', type: 'relation', collection: 'people', options: { multiple: true } },
];

const usage = `
import { createClient } from '@recordbus/client';
import type { Class, Routes, Schema } from './recordbus.d.ts';

export async function check(): Promise<void> {
  const client = createClient<Schema, Routes>('http://localhost');
  const one: Class = await client.from('class').get('x');
  const texts: [string, string | null, string | undefined | null] = [one.class, one.constructor, one.hidden];
  const others: ['a' | 'it\\'s "b"', number, boolean, number | null] = [one.kind, one.day, one.new, one.then];
  const lists: [readonly string[], readonly string[], readonly ('a' | 'b')[] | null] = [one.pages, one.owners, one.kinds];
  // @ts-expect-error a password is never shown
  one.secret;
  // @ts-expect-error it may be absent
  one.hidden.length;
  await client.from('class').create({ class: 'x', new: true, kind: 'a', secret: 'x', cover: new File([], 'x') });
  // @ts-expect-error the kind is missing
  await client.from('class').create({ class: 'x', new: true });
  // @ts-expect-error the server sets it
  await client.from('class').create({ class: 'x', new: true, kind: 'a', changed: 3 });
  await client.from('class').update('x', { then: { $add: 1 }, kinds: { $append: ['b'] }, pages: { $remove: ['x'] }, meta: { a: 1 } });
  // @ts-expect-error there is no such kind
  await client.from('class').update('x', { kinds: { $append: ['c'] } });
  const { data } = await client.from('class').list({ expand: ['parent.owners', 'class_via_parent.parent.owners'] });
  const name: string | undefined = data[0]?.expand.parent?.expand.owners[0]?.email;
  const deep: string | undefined = data[0]?.expand.class_via_parent[0]?.expand.parent?.expand.owners[0]?.email;
  await client.from('class').list({ filter: (row) => row.and(row.constructor.eq('x'), row.then.gt(1), row.field('class').ne('y')) });
  const live = await client.from('class').live({ expand: ['parent.owners', 'class_via_parent'], sort: '-then' });
  const owner: string | undefined = live.records[0]?.expand.parent?.expand.owners[0]?.email;
  live.onChange((records) => records[0]?.expand.class_via_parent[0]?.class.length);
  // @ts-expect-error it is not expanded
  live.records[0]?.expand.owners;
  // @ts-expect-error there is no such relation
  await client.from('class').live({ expand: ['nothing'] });
  await client.from('class').subscribe({
    expand: ['owners'],
    onMessage(change) {
      if (change.type === 'update') change.record.expand.owners[0]?.email.length;
      // @ts-expect-error it is not expanded
      if (change.type === 'update') change.record.expand.parent;
    },
  });
  client.from('class').file({ id: 'x' }, 'cover')?.url({ query: { key: 'x' } });
  client.from('class').files({ id: 'x' }, 'pages');
  // @ts-expect-error it is no file
  client.from('class').file({ id: 'x' }, 'body');
  // @ts-expect-error its records cannot sign in
  client.auth('class');
  await client.from('class').list({ query: { key: 'x' } });
  await client.from('class').get('x', { query: { key: 'x' } });
  await client.from('class').delete('x', { query: { key: 'x' } });
  // @ts-expect-error a view is only read
  await client.from('class_names').create({ class: 'x' });
  const view: string | null = (await client.from('class_names').first())?.class ?? null;
  await client.auth('people').register({ email: 'x', password: 'x', nick: 'x' });
  const lent: { readonly id: string; readonly until: number } = await client.call('POST /api/x/books/{id}/lend', {
    params: { id: 'x' },
    body: { days: 3 },
  });
  // @ts-expect-error the body is missing
  await client.call('POST /api/x/books/{id}/lend', { params: { id: 'x' } });
  // @ts-expect-error there is no such route
  await client.call('POST /api/x/nothing');
  void [texts, others, lists, name, deep, owner, view, lent];
}
`;

/** An extension whose hooks and tools are typed by the same file. */
const typedExtension = `
import { cron, defineExtension, type HandlerTools, refuse, route, z } from '@recordbus/extensions';
import type { Schema } from './recordbus.d.ts';

/** Outside defineExtension the tools are named. */
const moving = route({
  method: 'GET',
  path: '/moving',
  handler: async (_request, { transaction }: HandlerTools<Schema>) =>
    transaction(async (tx) => (await tx.records.list('class')).data.map((one) => one.class.length)),
});

export const extension = defineExtension<Schema>({
  hooks: {
    class: {
      async beforeCreate({ values, previous }, { records }) {
        const kind: string | undefined = values.kind;
        if (kind === undefined) throw refuse(422, 'validation failed', { kind: 'is required' });
        values.class = 'set by the hook';
        // @ts-expect-error there is no such kind
        values.kind = 'c';
        // @ts-expect-error it is a text
        values.class = 3;
        const before: string | null | undefined = previous?.constructor;
        const owner = await records.get('people', 'x');
        const nick: string | null = owner.nick;
        await records.create('people', { email: 'x', nick });
        // @ts-expect-error there is no such collection
        await records.get('nothing', 'x');
        // @ts-expect-error the address is missing
        await records.create('people', { nick });
        void before;
      },
      beforeUpdate({ values, previous, id }) {
        const before: string | null = previous.constructor;
        const stored: string = id;
        if (values.kind === previous.kind) return;
        void [before, stored];
      },
      beforeDelete({ previous }) {
        const name: string = previous.class;
        void name;
      },
      afterUpdate({ record, previous, changed }) {
        const pages: readonly string[] = record.pages;
        const before: string = previous.class;
        const names: readonly string[] = changed;
        // @ts-expect-error there is no such field
        record.nothing;
        void [pages, before, names];
      },
      afterDelete({ previous }) {
        // @ts-expect-error only an update has the record before it
        previous.class;
      },
    },
    // @ts-expect-error there is no such collection
    nothing: {},
  },
  signIn: {
    people: {
      async after({ userId }, { records }) {
        const { nick } = await records.get('people', userId);
        // @ts-expect-error it may be null
        nick.length;
      },
    },
  },
  routes: [
    route({
      method: 'POST',
      path: '/move/:id',
      params: z.object({ id: z.string() }),
      body: z.object({ to: z.string() }),
      handler: ({ params, body }, { transaction }) =>
        transaction(async (tx) => {
          const one = await tx.records.lock('class', params.id);
          const name: string = one.class;
          await tx.records.update('class', one.id, { class: name + body.to, then: { $add: 1 } });
          // @ts-expect-error there is no such collection
          await tx.records.get('nothing', 'x');
          // @ts-expect-error there is no such kind
          await tx.records.update('class', one.id, { kind: 'c' });
          // @ts-expect-error the body has no such member
          body.nothing;
          return one.kind;
        }),
    }),
    moving,
  ],
  crons: [
    cron({
      name: 'sweep',
      schedule: '0 4 * * *',
      async handler(_run, { records, transaction }) {
        const { data } = await records.list('class');
        await transaction((tx) => tx.records.delete('class', data[0]?.id ?? ''));
        // @ts-expect-error there is no such field
        data[0]?.nothing;
      },
    }),
  ],
});
`;

const extension = `
import { defineExtension, route, z } from '@recordbus/extensions';
export const extension = defineExtension({
  routes: [
    route({
      method: 'POST',
      path: '/books/:id/lend',
      access: 'public',
      params: z.object({ id: z.string() }),
      body: z.object({ days: z.number().int() }),
      answer: z.object({ id: z.string(), until: z.number() }),
      handler: ({ params, body }) => ({ id: params.id, until: body.days }),
    }),
  ],
});
`;

suite('recordbus types', async () => {
  const tidying = new AsyncDisposableStack();
  after(() => tidying.disposeAsync());
  const directory = mkdtempSync(join(tmpdir(), 'recordbus-types-'));
  tidying.defer(async () => rmSync(directory, { recursive: true }));
  const [extensions, project] = [join(directory, 'extensions'), join(directory, 'project')];
  mkdirSync(extensions);
  symlinkSync(join(repository, 'node_modules'), join(directory, 'node_modules'));
  const strict = createStrictProject(project);
  writeFileSync(join(extensions, 'lending.ts'), extension);

  const ground = tidying.use(await createGround());
  const environment = { SERVICE_EXTENSIONS_DIR: extensions };
  const stack = tidying.use(await startStack({ topology: 'one', ground, environment }));
  const admin = await stack.admin();
  const key = textAt((await stack.guest.send('POST', '/api/v1/admin/login', { body: firstAdmin })).json, 'data.token');
  const file = join(project, 'recordbus.d.ts');
  const types = (...args: string[]) =>
    runCli(['types', file, ...args, '--url', stack.url], { environment: { SERVICE_KEY: key } });

  test('write what compiles, and refuse what must not', async () => {
    await admin.post('/api/v1/collections', { name: 'people', type: 'auth', fields: [{ name: 'nick', type: 'text' }] });
    await admin.post('/api/v1/collections', { name: 'class', type: 'base', fields: everyField });
    for (const name of ['class_create', 'Blob', 'my_books', 'myBooks'])
      await admin.post('/api/v1/collections', { name, type: 'base', fields: [] });
    await admin.post('/api/v1/collections', {
      name: 'class_names',
      type: 'view',
      view_query: 'select id, class from class',
    });
    const { code, stderr } = await types();
    assert.equal(code, 0, stderr);
    strict.write('usage.ts', usage);
    strict.write('typed-extension.ts', typedExtension);
    await strict.compile('usage.ts', 'typed-extension.ts');
  });

  test('are the same from the database, except for extension routes', async () => {
    const { code, stdout, stderr } = await runCli(['types'], { environment: environmentOf(ground) });
    assert.equal(code, 0, stderr);
    assert.equal(stdout.trim(), readFileSync(file, 'utf8').split('/** The extension routes')[0]?.trim());
  });

  test('--check says whether the file is up to date', async () => {
    assert.equal((await types('--check')).code, 0);
    await admin.post('/api/v1/collections/people/fields', { name: 'age', type: 'number' });
    const { code, stderr } = await types('--check');
    assert.equal(code, 1);
    assert.match(stderr, /recordbus\.d\.ts is not up to date/);
    assert.doesNotMatch(readFileSync(file, 'utf8'), /\bage\b/);
    await types();
    assert.equal((await types('--check')).code, 0);
  });

  test('refuse a wrong token and an address without a stack in one sentence', async () => {
    const wrong = await runCli(['types', '--url', stack.url, '--key', 'wrong'], { environment: {} });
    const away = await runCli(['types', '--url', 'http://127.0.0.1:1', '--key', 'x'], { environment: {} });
    const none = await runCli(['types', '--url', stack.url], { environment: {} });
    for (const { code, stderr } of [wrong, away, none]) {
      assert.equal(code, 1);
      assert.equal(stderr.trim().split('\n').length, 1, stderr);
    }
  });

  test('cost an app with 200 collections with 30 fields each hardly more than untyped records', async () => {
    const names = Array.from({ length: 200 }, (_, index) => `large_${index}`);
    const collections = names.map((name, index) => ({
      name,
      type: 'base',
      fields: Array.from({ length: 30 }, (_, number) =>
        number < 5
          ? {
              name: `rel_${number}`,
              type: 'relation',
              collection: names[(index * 7 + number) % 200],
              options: { multiple: number === 4 },
            }
          : { name: `field_${number}`, type: number % 2 ? 'text' : 'number', required: number % 3 === 0 },
      ),
    }));
    await admin.post('/api/v1/admin/migrations/apply', { snapshot: { version: 1, collections } }, 200);
    assert.equal((await types()).code, 0);
    const app = (schema: string) =>
      [
        "import { createClient } from '@recordbus/client';",
        schema,
        "const client = createClient<Schema>('http://localhost');",
        ...names
          .slice(0, 100)
          .map(
            (name) =>
              `export const of_${name} = () => client.from('${name}').list({ filter: (row) => row.field('field_5').eq('x'), expand: ['rel_1.rel_2.rel_3', 'rel_4'], sort: '-field_6' });`,
          ),
      ].join('\n');
    strict.write('typed.ts', app("import type { Schema } from './recordbus.d.ts';"));
    strict.write('untyped.ts', app("import type { AnySchema as Schema } from '@recordbus/client';"));
    const [usual, typed] = [await strict.compile('untyped.ts'), await strict.compile('typed.ts')];
    assert.ok(usual > 0 && typed < usual * 1.5, `${typed} types instead of ${usual}`);
  });
});
