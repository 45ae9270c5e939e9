import assert from 'node:assert/strict';
import type { Client } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at } from '../harness/json.ts';
import { onEachTopology, replicaCount } from '../harness/stacks/target.ts';
import { makeKey } from './service-keys.ts';
import { clientOf, createUsers, signUp } from './users.ts';

/** The statuses that each caller gets, and a list's total. */
interface Expected {
  readonly list: number;
  readonly view: number;
  readonly create: number;
  readonly update: number;
}

const all: Expected = { list: 2, view: 200, create: 201, update: 200 };
const nothing: Expected = { list: 0, view: 403, create: 403, update: 403 };

onEachTopology('rules that only ask who the caller is [rules §2]', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'letters', type: 'base', fields: [{ name: 'text', type: 'text' }] });
  const members = await createUsers(target);
  const others = await createUsers(target);
  const clients: Readonly<Record<string, Client>> = {
    guest: target.guest,
    member: clientOf(target, await signUp(target, members, 'member@example.com')),
    other: clientOf(target, await signUp(target, others, 'other@example.com')),
    key: await makeKey(target, ['rules:letters']),
  };
  const { id } = await admin.create('letters', { text: 'first' });
  await admin.create('letters', { text: 'second' });

  async function found(client: Client): Promise<Expected> {
    const list = async () => Number(at((await client.get('/api/v1/letters')).json, 'totalItems'));
    const before = await list();
    const created = await client.send('POST', '/api/v1/letters', { body: { text: 'third' } });
    if (created.status === 201) {
      // The total follows the write, as for a collection without rules.
      assert.equal(await list(), before + 1);
      await admin.delete(`/api/v1/letters/${at(created.json, 'data.id')}`);
      assert.equal(await list(), before);
    }
    return {
      list: before,
      view: (await client.get(`/api/v1/letters/${id}`)).status,
      create: created.status,
      update: (await client.send('PATCH', `/api/v1/letters/${id}`, { body: { text: 'changed' } })).status,
    };
  }

  const rules: Readonly<Record<string, Readonly<Record<string, Expected>>>> = {
    '@request.auth.id != ""': { guest: nothing, member: all, other: all, key: all },
    '@request.auth.type = "user"': { guest: nothing, member: all, other: all, key: nothing },
    [`@request.auth.collection = "${members}"`]: { guest: nothing, member: all, other: nothing, key: nothing },
    [`@request.auth.id != "" && @request.auth.collection != "${members}"`]: {
      guest: nothing,
      member: nothing,
      other: all,
    },
  };
  for (const [rule, expected] of Object.entries(rules))
    await t.test(rule, async () => {
      await admin.patch('/api/v1/collections/letters', {
        list_rule: rule,
        view_rule: rule,
        create_rule: rule,
        update_rule: rule,
      });
      const check = async (): Promise<true> => {
        for (const [caller, rights] of Object.entries(expected))
          assert.deepEqual([caller, await found(clients[caller] ?? target.guest)], [caller, rights]);
        return true;
      };
      // Other replicas follow a change within a second (collections §9.2).
      await (replicaCount === 1 ? check() : eventually('every replica has the rule', check));
    });
});
