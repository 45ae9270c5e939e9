import assert from 'node:assert/strict';
import { is, Matcher } from '../harness/matching.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { make, path, text } from './collection-changes.ts';

onEachTopology('parallel collection changes all take effect', async (t, target) => {
  const admin = await target.admin();
  const { field } = await make(admin, 'busy', [text('title')]);

  await t.test("one collection's rules and fields change at once [collections §9.1]", async () => {
    const rules = ['list_rule', 'view_rule', 'create_rule', 'update_rule', 'delete_rule'];
    const bodies = [
      ...rules.map((rule) => ({ [rule]: 'title != "x"' })),
      { history_enabled: true },
      { fields: [field('title', { name: 'label' })] },
    ];
    const answers = await Promise.all(bodies.map((body) => admin.send('PATCH', `${path}/busy`, { body })));
    // Rules that arrive after the rename must use the new name; earlier ones follow it.
    for (const { status, text: body } of answers) assert.ok([200, 422].includes(status), body);
    const refusedRules = rules.filter((_, n) => answers[n]?.status === 422);
    const expected = Object.fromEntries(
      rules.map((rule) => [rule, refusedRules.includes(rule) ? null : 'label != "x"']),
    );
    const answer = await admin.get(`${path}/busy`);
    const fits = new Matcher('the fields', (value) => String(value).includes('"label"'));
    assert.deepEqual(
      [
        is.containing({ data: is.containing({ ...expected, history_enabled: true, fields: fits }) }).fits(answer.json),
        answer.text,
      ],
      [true, answer.text],
    );
  });

  await t.test('collections and indexes are created at once [collections §9.1]', async () => {
    const made = await Promise.all(
      [1, 2, 3, 4].flatMap((n) => [
        admin.send('POST', path, { body: { name: `beside${n}`, fields: [text('a')] } }),
        admin.send('POST', '/api/v1/admin/collections/busy/indexes', {
          body: { name: `i${n}`, columns: ['label', 'id'].slice(0, (n % 2) + 1) },
        }),
      ]),
    );
    assert.deepEqual(
      made.map(({ status }) => status),
      Array.from({ length: 8 }, () => 201),
    );
    const { text: listed } = await admin.get('/api/v1/admin/collections/busy/indexes');
    assert.equal(listed.match(/"name":"i\d"/g)?.length, 4);
  });

  await t.test('no record write is lost or incomplete while fields change [collections §9.3]', async () => {
    await admin.patch(`${path}/busy`, { create_rule: null, list_rule: null });
    const definition = field('title', { name: 'label' });
    let isOver = false;
    const write = async (): Promise<number> => {
      let written = 0;
      while (!isOver) {
        const { status, text: body } = await target.guest.send('POST', '/api/v1/busy', { body: { label: 'x' } });
        assert.equal(status, 201, body);
        written += 1;
      }
      return written;
    };
    const before = await admin.get('/api/v1/busy?perPage=1');
    const writers = [write(), write()];
    for (let n = 0; n < 4; n += 1) {
      await admin.patch(`${path}/busy`, { fields: [definition, { name: `extra${n}`, type: 'number' }] });
      await admin.patch(`${path}/busy`, { fields: [definition] });
    }
    isOver = true;
    const written = (await Promise.all(writers)).reduce((sum, count) => sum + count, 0);
    const after = await admin.get('/api/v1/busy?perPage=1');
    const total = (json: unknown) => Number((json as { totalItems: number }).totalItems);
    assert.equal(total(after.json) - total(before.json), written);
    assert.deepEqual(Object.keys((after.json as { data: object[] }).data[0] ?? {}), [
      'id',
      'label',
      'created',
      'updated',
    ]);
  });
});
