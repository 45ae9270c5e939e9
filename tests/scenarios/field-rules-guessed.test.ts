import assert from 'node:assert/strict';
import { eventually } from '../harness/eventually.ts';
import { at, listAt } from '../harness/json.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { createStaff, type Role, roles } from './staff.ts';

const path = '/api/v1/records/staff';

onEachTopology('hidden values cannot be guessed', async (t, target) => {
  const { clients, ada, boss, ownerId } = await createStaff(target);
  const { admin, owner, other, guest } = clients;
  await admin.post('/api/v1/collections', {
    name: 'notes',
    type: 'base',
    fields: [
      { name: 'title', type: 'text' },
      { name: 'about', type: 'relation', collection: 'staff' },
      { name: 'secretly', type: 'relation', collection: 'staff', view_rule: '' },
      { name: 'mine', type: 'relation', collection: 'staff', view_rule: '@request.auth.id = by' },
      {
        name: 'others',
        type: 'relation',
        collection: 'staff',
        options: { multiple: true },
        view_rule: '@request.auth.id = by',
      },
      { name: 'by', type: 'text' },
    ],
  });
  const note = { about: ada.id, secretly: ada.id, mine: ada.id, others: [ada.id], by: ownerId };
  await admin.create('notes', { ...note, title: 'one' });
  const send = (role: Role, query: string, where = path) => clients[role].get(`${where}?${query}`);
  const filtered = (filter: string, query = '') => `filter=${encodeURIComponent(filter)}&${query}`;
  const totals = async (filter: string, where = path) =>
    Promise.all(
      roles.map(async (role) => {
        const answer = await send(role, filtered(filter), where);
        return answer.status === 200 ? Number(at(answer.json, 'totalItems')) : answer.status;
      }),
    );

  /** Asserts that both of a caller's requests get the same refusal, apart from the name. */
  async function sameRefusal(role: Role, query: (name: string) => string, name: string, where = path): Promise<void> {
    const texts = [name, 'nothing'].map(async (one) => {
      const { status, text } = await send(role, query(one), where);
      return [status, text.replaceAll(one, 'X')];
    });
    const [closed, missing] = await Promise.all(texts);
    assert.equal(missing?.[0], 400, `${role} ${query('nothing')}: ${missing?.[1]}`);
    assert.deepEqual(closed, missing, `${role} ${query(name)}`);
  }

  /** Every way to name a field. */
  const ways: ((name: string) => string)[] = [
    (name) => filtered(`${name} = 5`),
    (name) => filtered(`name = "x" || not (${name} > "4")`),
    (name) => filtered(`name = ${name}`),
    (name) => filtered(`${name}:lower ~ "a"`),
    (name) => filtered(`${name}.name = "Bo"`),
    (name) => filtered(`boss.${name} = 9`),
    (name) => filtered(`count(${name}) > 0`),
    (name) => filtered(`all(${name} = 1)`),
    (name) => filtered(`${name} in (1, 2)`),
    (name) => filtered(`exists(staff, ${name} = 5)`),
    (name) => filtered(`exists(staff, record.${name} = name)`),
    (name) => `sort=${name}`,
    (name) => `sort=-name,${name}`,
    (name) => `sort=${name}&cursor=`,
    (name) => `expand=${name}`,
    (name) => `expand=boss.${name}`,
    (name) => `nearVectorField=${name}&nearVector=[1,0]`,
  ];

  await t.test('a closed field is like a name that does not exist [fields §5.4, filters §7.8]', async () => {
    for (const role of ['guest', 'other', 'owner'] as const) {
      for (const query of ways.filter((way) => role !== 'guest' || !way('x').includes('boss'))) {
        await sameRefusal(role, query, 'salary');
        await sameRefusal(role, query, 'mentor');
      }
      for (const parts of ['group', 'sum', 'avg', 'min', 'max'])
        await sameRefusal(role, (name) => `count=1&${parts}=${name}`, 'salary', `${path}/aggregate`);
      for (const name of ['notes_via_nothing', 'notes_via_secretly'])
        await sameRefusal(role, (it) => filtered(`${it}.title = "one"`), name);
    }
    for (const query of ways) await sameRefusal('guest', query, 'phone');
  });

  await t.test('a conditional value counts as null if its rule refuses [filters §7.8]', async () => {
    assert.deepEqual(await totals('phone = "55"'), [400, 0, 1, 1]);
    assert.deepEqual(await totals('phone = "99"'), [400, 0, 0, 1]);
    assert.deepEqual(await totals('phone = null'), [400, 2, 1, 0]);
    assert.deepEqual(await totals('phone != "99"'), [400, 2, 2, 1]);
    assert.deepEqual(await totals('not (phone = "99")'), [400, 2, 2, 1]);
    assert.deepEqual(await totals('phone ~ "9"'), [400, 0, 0, 1]);
    assert.deepEqual(await totals('phone:length = 2'), [400, 0, 1, 2]);
    assert.deepEqual(await totals('pets.cat = "Tom"'), [400, 0, 1, 1]);
    assert.deepEqual(await totals('phone in ("55", "99")'), [400, 0, 1, 2]);
    assert.deepEqual(await totals('shift = "late"'), [400, 1, 1, 1]);
  });

  await t.test('a conditional relation leads nowhere if its rule refuses [filters §7.8]', async () => {
    assert.deepEqual(await totals('boss.name = "Bo"'), [400, 0, 1, 1]);
    assert.deepEqual(await totals(`boss = "${boss.id}"`), [400, 0, 1, 1]);
    assert.deepEqual(await totals(`boss.id = "${boss.id}"`), [400, 0, 1, 1]);
    assert.deepEqual(await totals('count(boss) = 1'), [400, 0, 1, 1]);
    assert.deepEqual(await totals('boss.phone = "99"'), [400, 0, 0, 1], 'the rule of the target counts too');
    assert.deepEqual(await totals('staff_via_boss.name = "Ada"'), [400, 0, 1, 1]);
    assert.deepEqual(await totals('notes_via_mine.title = "one"'), [400, 0, 1, 1]);
    assert.deepEqual(await totals('count(notes_via_mine) = 1'), [400, 0, 1, 1]);
    assert.deepEqual(await totals('notes_via_others.title = "one"'), [400, 0, 1, 1]);
    assert.deepEqual(await totals('exists(staff, boss = record.id)'), [400, 0, 1, 1]);
    const notes = '/api/v1/records/notes';
    assert.deepEqual(await totals(`others = "${ada.id}"`, notes), [400, 0, 1, 1]);
    assert.deepEqual(await totals('others.name = "Ada"', notes), [400, 0, 1, 1]);
    assert.deepEqual(await totals('others:length = 1', notes), [400, 0, 1, 1]);
    assert.deepEqual(await totals('count(others) = 1', notes), [400, 0, 1, 1]);
    assert.deepEqual(await totals('about.phone = "55"', notes), [400, 0, 1, 1]);
    assert.deepEqual(await totals('about.boss.name = "Bo"', notes), [400, 0, 1, 1]);
  });

  const namesIn = async (role: Role, query: string) =>
    listAt((await send(role, query)).json, 'data').map((record) => at(record, 'name'));

  await t.test('an order reveals nothing about hidden values [filters §7.8]', async () => {
    assert.deepEqual(await namesIn('admin', 'sort=-phone'), ['Bo', 'Ada']);
    assert.deepEqual(await namesIn('owner', 'sort=phone'), ['Ada', 'Bo'], 'null comes last');
    const byId = await namesIn('other', 'sort=id');
    assert.deepEqual(await namesIn('other', 'sort=phone'), byId);
    assert.deepEqual(await namesIn('other', 'sort=boss.name'), byId);
    const first = await send('other', 'sort=phone&cursor=&perPage=1');
    const cursor = Buffer.from(String(at(first.json, 'next')), 'base64url').toString();
    assert.match(cursor, /\[null, /, 'the cursor has no hidden value');
    const next = await send('other', `sort=phone&perPage=1&cursor=${at(first.json, 'next')}`);
    assert.equal(listAt(next.json, 'data').length, 1);
  });

  await t.test('an aggregate counts hidden values as null [filters §7.8]', async () => {
    const groups = async (role: Role, query: string) =>
      listAt((await send(role, query, `${path}/aggregate`)).json, 'data');
    assert.deepEqual(await groups('other', 'group=phone&count=1'), [{ phone: null, count: 2 }]);
    assert.deepEqual(await groups('other', 'max=phone'), [{ max_phone: null }]);
    assert.deepEqual(await groups('owner', 'max=phone'), [{ max_phone: '55' }]);
    assert.deepEqual(await groups('admin', 'max=phone&sum=salary'), [{ sum_salary: 14, max_phone: '99' }]);
    assert.deepEqual(await groups('other', 'max=boss.name'), [{ max_boss_name: null }]);
  });

  await t.test('a vector search finds no hidden vector [filters §7.8]', async () => {
    const near = 'nearVectorField=traits&nearVector=[1,0]';
    assert.deepEqual(await namesIn('owner', near), ['Ada']);
    assert.deepEqual(await namesIn('other', near), []);
    assert.deepEqual(await namesIn('admin', near), ['Ada', 'Bo']);
  });

  await t.test('rules see every field [filters §7.8]', async () => {
    await admin.patch('/api/v1/collections/staff', { list_rule: 'salary > 6 && boss = null' });
    await eventually('the rule applies', async () => `${await namesIn('guest', '')}` === 'Bo');
    await admin.patch('/api/v1/collections/notes', { list_rule: 'about.salary = 5 && secretly.phone = "55"' });
    await eventually('the rule of notes applies', async () => {
      const { json } = await guest.get('/api/v1/records/notes');
      return at(json, 'totalItems') === 1;
    });
    await admin.patch('/api/v1/collections/staff', { list_rule: null });
    await eventually('everyone is listed', async () => (await namesIn('guest', '')).length === 2);
  });

  await t.test('a repeated answer is the original answer [http §7]', async () => {
    const headers = { 'Idempotency-Key': 'staff-1' };
    const body = { name: 'Once', owner: ownerId, phone: '1' };
    const first = await other.send('POST', path, { body, headers });
    assert.equal((await other.send('POST', path, { body, headers })).text, first.text);
    assert.doesNotMatch(first.text, /phone/);
    assert.match((await owner.send('POST', path, { body, headers })).text, /phone/);
  });
});
