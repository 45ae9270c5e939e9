import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Answer } from '../../harness/clients/client.ts';
import { eventually } from '../../harness/eventually.ts';
import { at, objectAt, textAt } from '../../harness/json.ts';
import { auth, newEmail, type Officers, password, required, settingsPath } from './officers.ts';

/** The rule is about the account, and follows what it names. */
export async function renames(t: TestContext, officers: Officers): Promise<void> {
  const { admin, guest, login } = officers;

  await t.test('the rule is about the account: others are refused', async () => {
    for (const rule of ['rank = ', 'nothing = 1', '@request.auth.id != null', '@request.headers.x = "1"', 'rank > 5 5'])
      assert.equal((await admin.send('PATCH', settingsPath, { body: { [required]: rule } })).status, 422, rule);
  });

  const collections = '/api/v1/collections';
  const change = (collection: string, body: object) => admin.send('PATCH', `${collections}/${collection}`, { body });
  const changed = async (collection: string, body: object): Promise<void> => {
    const { status, text } = await change(collection, body);
    assert.equal(status, 200, text);
  };
  const fieldsOf = async (collection: string): Promise<readonly { name: string; system?: boolean }[]> =>
    JSON.parse(textAt((await admin.get(`${collections}/${collection}`)).json, 'data.fields'));
  const renamed = async (collection: string, from: string, to: string) => ({
    fields: (await fieldsOf(collection))
      .filter(({ system }) => !system)
      .map((field) => (field.name === from ? { ...field, name: to } : field)),
  });
  const without = async (collection: string, name: string) => ({
    fields: (await fieldsOf(collection)).filter((field) => !field.system && field.name !== name),
  });
  const ruleOf = async (key = required) => objectAt((await admin.get(settingsPath)).json, 'data')[key];
  const refusals = async (answer: Promise<Answer>) => {
    const { status, json, text } = await answer;
    assert.equal(status, 422, text);
    return at(json, 'details') as object;
  };

  const enlist = async () => {
    const email = newEmail();
    const { record } = await guest.post(`${auth}/register`, { email, password });
    return { email, id: textAt(record, 'id') };
  };

  await t.test('a renamed field of the account is followed', async () => {
    await changed('officers', await renamed('officers', 'rank', 'grade'));
    assert.equal(await ruleOf(), 'grade = "chief"');
  });

  await t.test('so are fields and names of other collections, and it holds as before', async () => {
    await admin.post(collections, { name: 'precincts', fields: [{ name: 'armed', type: 'bool' }] });
    await admin.post(collections, {
      name: 'duties',
      fields: [
        { name: 'holder', type: 'text' },
        { name: 'kind', type: 'text' },
      ],
    });
    await admin.post(`${collections}/officers/fields`, { name: 'precinct', type: 'relation', collection: 'precincts' });
    await admin.patch(settingsPath, {
      [required]: 'precinct.armed = true || exists(duties, holder = record.id && kind = "night")',
    });
    await changed('precincts', await renamed('precincts', 'armed', 'dangerous'));
    await changed('duties', await renamed('duties', 'holder', 'officer'));
    await changed('duties', { name: 'shifts' });
    await changed('officers', await renamed('officers', 'precinct', 'station'));
    assert.equal(await ruleOf(), 'station.dangerous = true || exists(shifts, officer = record.id && kind = "night")');
    const free = await enlist();
    const [armed, onDuty] = [await enlist(), await enlist()];
    const station = await admin.post('/api/v1/precincts', { dangerous: true });
    await admin.patch(`/api/v1/officers/${armed.id}`, { station: station.id });
    await admin.post('/api/v1/shifts', { officer: onDuty.id, kind: 'night' });
    await eventually('every process follows', async () => {
      const answers = await Promise.all([armed, onDuty].map(({ email }) => login(email)));
      return answers.every(({ json }) => at(json, 'data.mfa_enrollment_required') === true);
    });
    await eventually(
      'others sign in',
      async () => typeof at((await login(free.email)).json, 'data.token') === 'string',
    );
  });

  await t.test('what it names cannot be dropped', async () => {
    const place = `settings.${required}`;
    const names = (field: string, collection: string) => ({
      [place]: `names the field ${JSON.stringify(field)} in ${collection}`,
    });
    assert.deepEqual(
      await refusals(change('precincts', await without('precincts', 'dangerous'))),
      names('dangerous', 'precincts'),
    );
    assert.deepEqual(await refusals(change('shifts', await without('shifts', 'kind'))), names('kind', 'shifts'));
    assert.deepEqual(
      await refusals(change('officers', await without('officers', 'station'))),
      names('station', 'officers'),
    );
    assert.deepEqual(Object.keys(await refusals(admin.send('DELETE', `${collections}/shifts`))), [place]);
    assert.equal(await ruleOf(), 'station.dangerous = true || exists(shifts, officer = record.id && kind = "night")');
    await admin.patch(settingsPath, { [required]: '' });
    await admin.delete(`${collections}/shifts`);
    await changed('officers', await without('officers', 'station'));
  });

  await t.test('it follows the renamed collection, and goes with a dropped one', async () => {
    await admin.patch(settingsPath, {
      [required]: 'grade = "chief" || exists(officers, grade = "chief" && id = record.id)',
    });
    await changed('officers', { name: 'captains' });
    assert.equal(
      await ruleOf('auth.mfa.required.captains'),
      'grade = "chief" || exists(captains, grade = "chief" && id = record.id)',
    );
    assert.equal(await ruleOf(), undefined);
    await admin.delete(`${collections}/captains`);
    assert.equal(await ruleOf('auth.mfa.required.captains'), undefined);
  });
}
