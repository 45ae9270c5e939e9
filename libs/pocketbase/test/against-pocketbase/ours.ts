import { createSend, demand } from './json-client.ts';
import { type Caller, password, type Write } from './theirs.ts';
import type { World, WorldCollection, WorldField } from './world.ts';

/** Recordbus with the same world, where a rule is tried without saving it. */
export interface Ours {
  list(collection: string, rule: string | null, caller: Caller): Promise<string[]>;
  admits(collection: string, rule: string | null, write: Write, caller: Caller): Promise<boolean>;
}

/** PocketBase's value as it is stored here. */
function ourValue({ type, maxSelect = 1 }: WorldField, value: unknown): unknown {
  switch (type) {
    case 'date':
      return value === '' ? null : Date.parse(String(value)) / 1000;
    case 'geoPoint': {
      const { lon, lat } = value as { lon: number; lat: number };
      return lon === 0 && lat === 0 ? null : { lat, lng: lon };
    }
    case 'select':
    case 'relation':
      return value === '' && maxSelect === 1 ? null : value;
    default:
      return value;
  }
}

/** What PocketBase stores for a field that a create does not name. */
const defaults: Readonly<Record<string, unknown>> = { text: '', number: 0, bool: false };

const ourField = ({ name, type, target, maxSelect = 1, values }: WorldField) => ({
  name,
  type,
  ...(target && { collection: target }),
  options: {
    ...(values && { values }),
    ...(maxSelect > 1 && { multiple: true }),
    ...(target && { cascade: 'setNull' }),
    ...(type in defaults && { default: defaults[type] }),
  },
});

const accountFields = [
  { name: 'emailVisibility', type: 'bool' },
  { name: 'email', type: 'email', options: { default: '@none' } },
];

/** Replaces a stack's collections by the world. */
export async function createOurs(url: string, admin: { email: string; password: string }, world: World): Promise<Ours> {
  const send = createSend(url);
  const { data } = await demand(send, 'POST', '/api/v1/admin/login', admin);
  const { token } = data as { token: string };
  const asAdmin = (method: string, path: string, body?: unknown) => demand(send, method, path, body, token);

  await asAdmin('PATCH', '/api/v1/admin/settings', { 'rate_limit.enabled': '0' });
  const { data: old } = await asAdmin('GET', '/api/v1/collections?perPage=100');
  const closed = { list_rule: '', view_rule: '', create_rule: '', update_rule: '', delete_rule: '' };
  for (const { name } of old as { name: string }[]) {
    const { data: definition } = await asAdmin('GET', `/api/v1/collections/${name}`);
    // The answer has them as text.
    const fields = JSON.parse((definition as { fields: string }).fields) as { name: string; type: string }[];
    for (const field of fields.filter(({ type }) => type === 'relation'))
      await asAdmin('DELETE', `/api/v1/collections/${name}/fields/${field.name}`);
  }
  for (const { name } of old as { name: string }[]) await asAdmin('DELETE', `/api/v1/collections/${name}`);

  for (const { name, type, fields } of world.collections)
    await asAdmin('POST', '/api/v1/collections', {
      name,
      type,
      fields: [...fields.filter(({ target }) => !target).map(ourField), ...(type === 'auth' ? accountFields : [])],
      ...closed,
    });
  for (const { name, fields } of world.collections)
    for (const field of fields.filter(({ target }) => target))
      await asAdmin('POST', `/api/v1/collections/${name}/fields`, ourField(field));

  for (const withRelations of [false, true])
    for (const collection of world.collections)
      for (const { id, ...record } of world.records[collection.name] ?? []) {
        const isNow = (key: string) => Boolean(fieldOf(collection, key)?.target) === withRelations;
        const values = toOurs(collection, Object.fromEntries(Object.entries(record).filter(([key]) => isNow(key))));
        const path = `/api/v1/records/${collection.name}/${id}`;
        if (withRelations) await asAdmin('PATCH', path, values);
        else await asAdmin('PUT', path, { ...values, ...(collection.type === 'auth' && { password }) });
      }

  const attempt = async (collection: string, body: object) => {
    const answer = await asAdmin('POST', `/api/v1/admin/collections/${collection}/try-rule`, body);
    return answer.data as {
      admitted: boolean;
      reason: string | null;
      records: { id: string }[] | null;
      total: number | null;
    };
  };
  return {
    async list(collection, rule, caller) {
      const { records, total } = await attempt(collection, { action: 'list', rule, caller });
      if (total !== null && total > 10) throw new Error('more records than an attempt shows');
      return (records ?? []).map(({ id }) => id).sort();
    },
    async admits(name, rule, { action, id, body }, caller) {
      const collection = world.collections.find((candidate) => candidate.name === name);
      const values = collection ? toOurs(collection, body) : body;
      const at = action === 'update' ? { id } : {};
      const { admitted, reason } = await attempt(name, { action, rule, caller, ...at, body: values });
      if (!admitted && reason !== refusal && reason !== closedRule) throw new Error(`not the rule's answer: ${reason}`);
      return admitted;
    },
  };
}

const refusal = "the collection's rule does not allow it";
const closedRule = 'only admins may do this';

const fieldOf = ({ fields }: WorldCollection, key: string) => fields.find(({ name }) => name === key);

const toOurs = (collection: WorldCollection, values: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(values).flatMap(([key, value]) => {
      const field = fieldOf(collection, key);
      if (key === 'email' && value === '') return [];
      return [[key, field ? ourValue(field, value) : value]];
    }),
  );
