import assert from 'node:assert/strict';
import { textAt } from '../harness/json.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { apply } from './snapshot-documents.ts';

interface Definition {
  readonly name: string;
  readonly type: string;
  readonly collection?: string;
  readonly view_rule?: string;
  readonly options?: { readonly viewRule: string };
}

const file = (name: string, viewRule: string): Definition => ({ name, type: 'file', options: { viewRule } });
const topic = { name: 'topic', type: 'text' };

/** Papers, whose file rules name fields, collections and a view that come later, then those collections. */
const documentOf = (papers: string) => {
  const [readers, names] = [`${papers}_readers`, `${papers}_names`];
  const fields: Definition[] = [
    topic,
    file('listed', `exists(${readers}, paper = record.id)`),
    file('back', `${readers}_via_paper.name = "Ada"`),
    { name: 'reader', type: 'relation', collection: readers, view_rule: 'topic != "" && last = 1' },
    file('path', 'reader.name = "Ada"'),
    file('named', `exists(${names}, name = record.topic)`),
    { name: 'last', type: 'number' },
  ];
  const ofReaders = [
    { name: 'paper', type: 'relation', collection: papers },
    { name: 'name', type: 'text' },
    file('photo', 'paper.topic = "open"'),
  ];
  return [
    { name: papers, type: 'base', fields, list_rule: `${readers}_via_paper.name != "x"` },
    { name: names, type: 'view', view_query: `select id, name from ${readers}` },
    { name: readers, type: 'base', fields: ofReaders },
  ] as const;
};

onEachTopology('a snapshot has file rules that name what comes later [collections §11.5]', async (t, target) => {
  const admin = await target.admin();
  const send = async (collections: readonly object[]) =>
    admin.post(apply, { snapshot: { version: 1, collections }, mode: 'sync' }, 200);
  const fileRulesOf = async (name: string) => {
    const { json } = await admin.get(`/api/v1/collections/${name}`);
    const fields: { options: { viewRule?: string } }[] = JSON.parse(textAt(json, 'data.fields'));
    return fields.flatMap(({ options: { viewRule } }) => viewRule ?? []);
  };
  const writtenIn = ({ fields }: { readonly fields: readonly Definition[] }) =>
    fields.flatMap(({ options }) => options?.viewRule ?? []);

  await t.test('a first apply', async () => {
    const document = documentOf('papers');
    const all = document.map(({ name }) => name);
    assert.deepEqual((await send(document)).created, all);
    assert.deepEqual(await fileRulesOf('papers'), writtenIn(document[0]));
    assert.deepEqual((await send(document)).unchanged, all);
  });

  await t.test('a first apply with fields as text', async () => {
    const [papers, ...others] = documentOf('texts');
    await send([{ ...papers, fields: JSON.stringify(papers.fields) }, ...others]);
    assert.deepEqual(await fileRulesOf('texts'), writtenIn(papers));
  });

  await t.test('an existing collection gets such files', async () => {
    const document = documentOf('old');
    await admin.post('/api/v1/collections', { name: 'old', type: 'base', fields: [topic] });
    const { created, updated } = await send(document);
    assert.deepEqual([created, updated], [['old_names', 'old_readers'], ['old']]);
    assert.deepEqual(await fileRulesOf('old'), writtenIn(document[0]));
  });

  await runScenarios(t, target, [
    {
      name: 'a rule of a file that names nothing',
      as: 'admin',
      request: `POST ${apply}`,
      body: {
        snapshot: {
          version: 1,
          collections: [{ name: 'd', type: 'base', fields: [file('scan', 'exists(nothing, id != "")')] }],
        },
      },
      expect: refused.invalid('collections.d.fields.scan.options.viewRule'),
      spec: 'collections §11.5',
    },
  ]);

  // No collection in a circle can be deleted.
  for (const name of ['papers', 'texts', 'old'])
    await admin.patch(`/api/v1/collections/${name}`, { list_rule: null, fields: [topic] });
});
