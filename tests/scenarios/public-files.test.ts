import assert from 'node:assert/strict';
import { file, multipart } from '../harness/clients/multipart.ts';
import { eventually } from '../harness/eventually.ts';
import { at, listAt, objectAt, textAt } from '../harness/json.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { fileField, namesOf, png, upload } from './file-forms.ts';

onEachTopology('public files are served to everyone with their address', async (t, target) => {
  const admin = await target.admin();
  const user = await target.user();
  const { guest } = target;
  const fields = [
    fileField('poster', { public: true }),
    { ...fileField('sheets', { public: true, multiple: true, auditDownloads: true }), view_rule: '' },
    fileField('draft'),
  ];
  await admin.define('shows', fields, { view_rule: '', list_rule: '', delete_rule: '' });
  const show = await upload(
    admin,
    '/api/v1/shows',
    file('poster', 'p.png', png),
    file('sheets', 's.txt', 'notes'),
    file('draft', 'd.txt', 'secret'),
  );
  const urlOf = (name: unknown) => `/api/files/shows/${show.id}/${String(name)}`;
  const [sheet = ''] = namesOf(show, 'sheets');

  await t.test('a guest gets them although only admins may view the record [files §7.6]', async () => {
    const poster = await guest.get(urlOf(show.poster));
    assert.equal(poster.status, 200, poster.text);
    assert.equal(poster.headers['cache-control'], 'public, max-age=604800, immutable');
    assert.equal((await user.get(urlOf(sheet))).text, 'notes');
    assert.equal((await guest.get(`${urlOf(show.poster)}?thumb=100x100`)).status, 200);
    assert.equal((await guest.get(`/api/v1/shows/${show.id}`)).status, 403);
  });

  await t.test('the other files stay closed, and no answer says which files exist [files §7.6]', async () => {
    const [hidden, missing, elsewhere] = await Promise.all(
      [urlOf(show.draft), urlOf('p_0123456789.png'), `/api/files/shows/nobody/${show.poster}`].map((url) =>
        guest.get(url),
      ),
    );
    assert.deepEqual([hidden?.status, missing?.status, elsewhere?.status], [403, 403, 403]);
    assert.deepEqual([missing?.text, elsewhere?.text], [hidden?.text, hidden?.text]);
    const body = { collection: 'shows', id: show.id };
    const mint = (filename: unknown) => guest.send('POST', '/api/v1/files/token', { body: { ...body, filename } });
    assert.deepEqual([(await mint(show.draft)).status, (await mint('p_0123456789.png')).status], [403, 403]);
  });

  await t.test('a rule that no row passes does not close them either [files §7.6]', async () => {
    await admin.patch('/api/v1/collections/shows', { view_rule: 'id = ""' });
    await eventually('the rule applies', async () => (await guest.get(urlOf('p_0123456789.png'))).status === 404);
    assert.equal((await guest.get(urlOf(show.poster))).status, 200);
    assert.equal((await guest.get(urlOf(show.draft))).status, 403);
  });

  await t.test('an audited one is not kept by caches [files §4.3, §7.5]', async () => {
    assert.equal((await guest.get(urlOf(sheet))).headers['cache-control'], 'private, no-cache');
    const { json } = await admin.get('/api/v1/admin/audit?action=files.download');
    assert.ok(listAt(json, 'data').some((row) => row.target_id === `shows/${show.id}/${sheet}`));
  });

  await t.test('one that is replaced, or whose record is deleted, is gone [files §8]', async () => {
    const next = await upload(admin, `/api/v1/shows/${show.id}`, file('poster', 'q.png', png));
    assert.equal((await guest.get(urlOf(show.poster))).status, 404);
    assert.equal((await guest.get(urlOf(next.poster))).status, 200);
    await admin.delete(`/api/v1/shows/${show.id}`);
    assert.equal((await guest.get(urlOf(next.poster))).status, 404);
    assert.equal((await guest.get(urlOf(sheet))).status, 404);
  });

  await t.test('no option that restricts downloads goes with it [files §7.6]', async () => {
    for (const option of ['protected', 'requireAuth', 'oneTimeToken', 'bindTokenIp', 'viewRule']) {
      const value = option === 'viewRule' ? 'id != ""' : true;
      const body = { name: 'bad', type: 'base', fields: [fileField('f', { public: true, [option]: value })] };
      const { status, json } = await admin.send('POST', '/api/v1/collections', { body });
      assert.equal(status, 422);
      assert.deepEqual(at(json, 'details'), { 'fields.f.options.public': `contradicts ${option}` });
    }
  });
});

onEachTopology('a list of files has at most max', async (t, target) => {
  const admin = await target.admin();
  const { guest } = target;
  await admin.define('pairs', [fileField('scans', { multiple: true, max: 2 })]);
  const scans = (...names: string[]) => multipart(...names.map((name) => file('scans', name, name)));
  const record = await upload(guest, '/api/v1/pairs', file('scans', 'a.txt', 'A'));
  const path = `/api/v1/pairs/${record.id}`;
  const tooMany = refused.invalid('scans');
  const scenarios: Omit<Scenario, 'spec'>[] = [
    { name: 'three in a create', request: 'POST /api/v1/pairs', ...scans('a', 'b', 'c'), expect: tooMany },
    { name: 'two more than one', request: `PATCH ${path}`, ...scans('b', 'c'), expect: tooMany },
    {
      name: 'one more than one',
      request: `PATCH ${path}`,
      ...scans('b'),
      expect: { status: 200 },
      events: ['pairs.update'],
    },
    { name: 'one more than two', request: `PATCH ${path}`, ...scans('c'), expect: tooMany },
  ];
  await runScenarios(
    t,
    target,
    scenarios.map((scenario) => ({ ...scenario, spec: 'fields §3.15' })),
  );

  await t.test('an upload can take the place of a dropped one [fields §3.15]', async () => {
    const stored = namesOf(objectAt((await guest.get(path)).json, 'data'), 'scans');
    const changed = await upload(
      guest,
      path,
      { name: '_json', content: JSON.stringify({ scans: { $remove: [stored[0]] } }) },
      file('scans', 'c.txt', 'C'),
    );
    assert.equal(namesOf(changed, 'scans').length, 2);
    const answer = await guest.send('PATCH', path, {
      ...multipart({ name: '_json', content: '{"scans":{"$remove":[]}}' }, file('scans', 'd.txt', 'D')),
    });
    assert.equal(answer.status, 422, answer.text);
    assert.equal(textAt(answer.json, 'details.scans'), 'must have at most 2 files');
  });

  await t.test('uploads at the same time stay within it [fields §3.15]', async () => {
    const { id } = await upload(guest, '/api/v1/pairs');
    const answers = await Promise.all(
      ['a', 'b', 'c', 'd', 'e'].map((name) => guest.send('PATCH', `/api/v1/pairs/${id}`, scans(name))),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 422, 422, 422]);
  });

  await t.test('a smaller max is refused while a record has more [collections §6.4]', async () => {
    const body = { options: { multiple: true, max: 1 } };
    const { status, json } = await admin.send('PATCH', '/api/v1/collections/pairs/fields/scans', { body });
    assert.equal(status, 422);
    assert.deepEqual(Object.keys(objectAt(json, 'details')), ['options.max']);
  });
});
