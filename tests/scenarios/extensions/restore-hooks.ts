import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { file } from '../../harness/clients/multipart.ts';
import { objectAt, textAt } from '../../harness/json.ts';
import { is } from '../../harness/matching.ts';
import { refused } from '../../harness/refusals.ts';
import { runScenarios, type Scenario } from '../../harness/stacks/scenario.ts';
import type { Target } from '../../harness/stacks/target.ts';
import { fileField, namesOf, upload } from '../file-forms.ts';
import { rowsOf } from '../history-rows.ts';

const spec = 'extensions §2.4';
const text = (name: string, options: object = {}) => ({ name, type: 'text', options });

/** Writes notes whose text selects what the hook does, updates them and restores them. */
export async function restoreHooks(t: TestContext, target: Target): Promise<void> {
  const admin = await target.admin();
  const fields = [
    text('text'),
    text('secret', { encrypted: true }),
    text('heard'),
    { name: 'tags', type: 'select', options: { values: ['a', 'b'], multiple: true } },
    { name: 'pin', type: 'password' },
    fileField('papers', { multiple: true }),
  ];
  await admin.define('grove_notes', fields, { history_enabled: true });
  const notes = '/api/v1/grove_notes';
  const write = async (text: string, body: object = {}) => {
    const first = await admin.create('grove_notes', { text, tags: ['a'], ...body });
    const path = `${notes}/${first.id}`;
    await admin.patch(path, { text: 'new', secret: 'new', tags: ['b'] });
    return { path, restore: `POST ${path}/restore?version=${first.updated}` };
  };
  const row = (name: string, request: string, expect: Scenario['expect']): Scenario => ({
    name,
    as: 'admin',
    request,
    expect,
    events: expect.status === 200 ? ['grove_notes.update'] : [],
    spec,
  });
  const restored = (members: Readonly<Record<string, unknown>>) => ({
    status: 200,
    json: { data: is.containing(members) },
  });

  const plain = await write('plain', { secret: 'old', pin: 'correct horse' });
  const reports = await write('reports', { secret: 'old', pin: 'correct horse' });
  const forgets = await write('forgets');
  const refusing = await write('refused');
  const long = await write('longer than allowed');
  const withPapers = async (text: string) => {
    const made = await upload(
      admin,
      notes,
      { name: 'text', content: text },
      file('papers', 'a.txt', 'a'),
      file('papers', 'b.txt', 'b'),
    );
    const path = `${notes}/${textAt(made, 'id')}`;
    await upload(admin, path, { name: 'text', content: 'new' }, file('papers', 'c.txt', 'c'));
    return { path, restore: `POST ${path}/restore?version=${made.updated}`, papers: namesOf(made, 'papers') };
  };
  const whole = await withPapers('whole');
  const fewer = await withPapers('fewer');
  const strange = await withPapers('strange');
  await admin.patch('/api/v1/collections/grove_notes', {
    fields: [text('text', { pattern: '^.{0,12}$' }), ...fields.slice(1)],
  });

  await runScenarios(t, target, [
    row('a restore that no hook changes', plain.restore, restored({ text: 'plain', secret: 'old', tags: ['a'] })),
    row(
      'a hook that sees restored values, decrypted ones too, but no passwords',
      reports.restore,
      restored({ text: 'reports', secret: 'old', heard: 'old, not new; no pin' }),
    ),
    row('a hook that leaves out a field', forgets.restore, restored({ text: 'forgets', tags: ['b'] })),
    row('a hook that refuses', refusing.restore, refused.conflict),
    row(
      'a hook that fixes a value that its field no longer allows',
      long.restore,
      restored({ text: 'cut', tags: ['a'] }),
    ),
    row('restored files', whole.restore, restored({ papers: whole.papers })),
    row('a hook that leaves out files', fewer.restore, restored({ papers: fewer.papers.slice(1) })),
    row('a hook that adds an unknown file', strange.restore, refused.invalid('papers')),
  ]);
  await t.test('a restore that a hook changes adds one version', async () => {
    const ops = (await rowsOf(admin, reports.path)).map((row) => [row.op, objectAt(row, 'snapshot').heard]);
    assert.deepEqual(ops, [
      ['update', 'old, not new; no pin'],
      ['update', null],
      ['create', null],
    ]);
    assert.equal((await rowsOf(admin, refusing.path)).length, 2);
  });
  await t.test('a restored file can be downloaded', async () => {
    const path = `/api/v1/files/grove_notes/${fewer.path.split('/').at(-1)}/${fewer.papers[1]}`;
    const answer = await admin.get(path);
    assert.deepEqual([answer.status, answer.text], [200, 'b']);
  });
  await admin.delete('/api/v1/collections/grove_notes');
}
