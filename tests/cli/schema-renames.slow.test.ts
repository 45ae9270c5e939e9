import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { at, listAt } from '../harness/json.ts';
import { jsonSchemaProblems } from './json-schema-problems.ts';
import { startForSchema } from './schema-stack.ts';

/** A collection as a TypeScript file. */
const typed = (definition: object): string =>
  `import { defineCollection } from '@recordbus/extensions';
export const collection = defineCollection(${JSON.stringify(definition)});\n`;

suite('renames in schema files on the command line [schema §3.2]', async () => {
  const tidying = new AsyncDisposableStack();
  after(() => tidying.disposeAsync());
  const root = mkdtempSync(join(tmpdir(), 'schema-renames-'));
  tidying.defer(async () => rmSync(root, { recursive: true }));
  const { admin, overHttp } = await startForSchema(tidying);
  const planFile = join(root, 'plan.json');
  const file = (folder: string, name: string) => join(root, folder, 'collections', name);
  const write = (path: string, text: string) => {
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, text);
  };
  const read = (path: string): Record<string, unknown> => JSON.parse(readFileSync(path, 'utf8'));
  const demand = async (code: number, ...args: readonly string[]) => {
    const done = await overHttp(args);
    assert.equal(done.code, code, `${args.join(' ')}\n${done.stdout}${done.stderr}`);
    return done;
  };
  const plan = (folder: string) => demand(2, 'plan', join(root, folder), '--out', planFile);
  const texts = (...names: readonly string[]) => names.map((name) => ({ name, type: 'text' }));

  await admin.post('/api/v1/collections', { name: 'notes', list_rule: null, fields: texts('title', 'body') });
  await admin.create('notes', { title: 'kept' });
  const records = async (collection: string) => listAt((await admin.get(`/api/v1/${collection}`)).json, 'data');

  await test('a TypeScript file renames a collection and a field; pull leaves both names to it', async () => {
    const definition = {
      name: 'memos',
      renamedFrom: 'notes',
      list_rule: null,
      fields: [{ ...texts('headline')[0], renamedFrom: 'title' }, ...texts('body')],
    };
    write(file('typed', 'memos.ts'), typed(definition));
    await demand(0, 'pull', join(root, 'typed'));
    assert.ok(!existsSync(file('typed', 'notes.json')), 'the collection is that of memos.ts');
    const { stdout } = await plan('typed');
    assert.match(stdout, /^> collection memos, before notes$/m);
    assert.match(stdout, /^> field memos\.headline, before title$/m);
    assert.doesNotMatch(stdout, /^[-+]/m);
    await demand(0, 'apply', planFile);
    assert.equal((await records('memos'))[0]?.headline, 'kept');
    await demand(0, 'check', join(root, 'typed'));
    await demand(0, 'pull', join(root, 'typed'));
    assert.ok(!existsSync(file('typed', 'memos.json')));
  });

  await test('pull keeps the former names in a JSON file, until the stack has them again', async () => {
    await demand(0, 'pull', join(root, 'json'));
    const path = file('json', 'pages.json');
    const { id: _, fields, ...memos } = read(file('json', 'memos.json'));
    const [headline, body] = (fields as Record<string, unknown>[]).map(({ id: _, ...field }) => field);
    rmSync(file('json', 'memos.json'));
    const changed = { ...memos, name: 'pages', renamedFrom: 'memos' };
    write(path, JSON.stringify({ ...changed, fields: [headline, { ...body, name: 'text', renamedFrom: 'body' }] }));
    assert.deepEqual(jsonSchemaProblems(path), []);
    await plan('json');
    await demand(0, 'apply', planFile);
    assert.equal((await records('pages'))[0]?.headline, 'kept');
    await demand(0, 'pull', join(root, 'json'));
    const pulled = read(path);
    assert.deepEqual(Object.keys(pulled).slice(0, 4), ['$schema', 'id', 'name', 'renamedFrom']);
    assert.deepEqual([pulled.renamedFrom, at(pulled, 'fields.1.renamedFrom')], ['memos', 'body']);
    assert.match((await demand(0, 'pull', join(root, 'json'))).stdout, /^The files match/);
    await demand(0, 'check', join(root, 'json'));

    await admin.post('/api/v1/collections', { name: 'memos', fields: [] });
    const definitions: object[] = JSON.parse(
      String(at((await admin.get('/api/v1/collections/pages')).json, 'data.fields')),
    );
    await admin.patch('/api/v1/collections/pages', { fields: [...definitions, ...texts('body')] });
    await demand(0, 'pull', join(root, 'json'));
    assert.doesNotMatch(readFileSync(path, 'utf8'), /renamedFrom/);
    await demand(0, 'check', join(root, 'json'));
  });

  await test('a former name that exists next to the new one is refused with its line', async () => {
    write(
      file('both', 'pages.ts'),
      typed({ name: 'pages', fields: texts('text') }).replace('"fields"', '\n"renamedFrom": "memos",\n"fields"'),
    );
    const { stderr } = await demand(1, 'check', join(root, 'both'));
    assert.match(stderr, /pages\.ts:3: .*renamedFrom: cannot be memos: the stack has both memos and pages/);
  });
});
