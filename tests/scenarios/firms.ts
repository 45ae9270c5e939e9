import assert from 'node:assert/strict';
import { type Client, createClient } from '../harness/clients/client.ts';
import { allowLoopback } from '../harness/clients/webhook.ts';
import { eventually } from '../harness/eventually.ts';
import { type JsonObject, textAt } from '../harness/json.ts';
import type { Receiver } from '../harness/servers/receiver.ts';
import { followedEverywhere } from '../harness/stacks/followed-settings.ts';
import type { Target } from '../harness/stacks/target.ts';

const password = 'a long and winding password';
export const collections = '/api/v1/collections';
export const adminPath = '/api/v1/admin/webhooks';
export const ownersKey = 'webhooks.owners.firms';

/** A shop whose customers are firms. */
export interface Ground {
  readonly admin: Client;
  readonly firms: readonly [string, string];
  /** A user of the first firm. */
  readonly ann: Client;
  /** Lets firms own webhooks, with these members of the setting. */
  allow(members?: object): Promise<JsonObject>;
  setRule(rule: string): Promise<void>;
  own(firm: string, url: string, events?: readonly string[]): Promise<string>;
}

/** Makes two firms with orders, and a user of the first firm. */
export async function prepare(target: Target, receiver: Receiver): Promise<Ground> {
  const admin = followedEverywhere(await target.admin());
  const text = (name: string) => ({ name, type: 'text' });
  const relation = { name: 'firm', type: 'relation', collection: 'firms' };
  await admin.post(collections, { name: 'firms', list_rule: '', fields: [text('name')] });
  await admin.post(collections, { name: 'staff', type: 'auth', fields: [relation] });
  await admin.post(collections, {
    name: 'orders',
    list_rule: '',
    fields: [relation, text('state'), { ...text('margin'), view_rule: '' }],
  });
  const firms = [await admin.create('firms', { name: 'North' }), await admin.create('firms', { name: 'South' })];
  const [north = '', south = ''] = firms.map(({ id }) => String(id));
  await admin.create('staff', { email: 'ann@example.com', password, firm: north });
  await allowLoopback(admin);
  const { host } = new URL(receiver.url);
  const allow = (members: object = {}) =>
    admin.patch('/api/v1/admin/settings', {
      [ownersKey]: JSON.stringify({
        manage_rule: '@request.auth.firm = id',
        events: ['orders.*'],
        hosts: [`http://${host}`],
        ...members,
      }),
    });
  await allow();
  const credentials = { email: 'ann@example.com', password };
  const login = await target.guest.send('POST', '/api/v1/auth/staff/login', { body: credentials });
  return {
    admin,
    firms: [north, south],
    ann: createClient(target.url, textAt(login.json, 'data.token')),
    allow,
    async setRule(rule) {
      const { status, text: answer } = await admin.send('PATCH', `${collections}/orders`, {
        body: { webhook_rule: rule },
      });
      assert.equal(status, 200, answer);
    },
    async own(firm, url, events = ['orders.*']) {
      const owner = { collection: 'firms', id: firm };
      const made = await admin.post(adminPath, { name: 'of a firm', url, events, owner, retry_delay_ms: 100 });
      return String(made.id);
    },
  };
}

export const namesAt = (receiver: Receiver, path: string) =>
  receiver.deliveries.filter((one) => one.path === path).map(({ json }) => String(json.event));
export const bodiesAt = (receiver: Receiver, path: string) =>
  receiver.deliveries.filter((one) => one.path === path).map(({ json }) => json);
export const got = (receiver: Receiver, path: string, count: number) =>
  eventually(`${count} deliveries at ${path}`, () => {
    const bodies = bodiesAt(receiver, path);
    if (bodies.length < count) throw new Error(JSON.stringify(bodies));
    return bodies;
  });
