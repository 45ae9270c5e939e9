import type { PocketBaseCollection } from '../../src/rules/index.ts';
import { createSend, demand } from './json-client.ts';
import type { World, WorldRecord } from './world.ts';

/** A caller: a guest, or a user in one collection. */
export type Caller = { readonly collection: string; readonly id: string } | null;

export interface Write {
  readonly action: 'create' | 'update';
  readonly id: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export const password = 'correct horse battery staple';

/** A PocketBase with a world. */
export interface Theirs {
  readonly collections: readonly PocketBaseCollection[];
  /** Sets a rule. Returns PocketBase's refusal, if it does not take it. */
  setRule(
    collection: string,
    rule: 'listRule' | 'createRule' | 'updateRule',
    text: string | null,
  ): Promise<string | undefined>;
  /** The ids that the caller finds. */
  list(collection: string, caller: Caller): Promise<string[]>;
  /** Whether the rule admits the write. Nothing is written. */
  admits(collection: string, write: Write, caller: Caller): Promise<boolean>;
}

/** A text that is too long for this field: the write fails after the rule was asked. */
const tooLong = { guard: 'too long' };

/** Fills an empty PocketBase with the world. */
export async function createTheirs(
  url: string,
  admin: { identity: string; password: string },
  world: World,
): Promise<Theirs> {
  const send = createSend(url);
  const { token } = await demand(send, 'POST', '/api/collections/_superusers/auth-with-password', admin);
  const asAdmin = (method: string, path: string, body?: unknown) => demand(send, method, path, body, String(token));
  const path = (name: string) => `/api/collections/${name}`;
  const read = async () => (await asAdmin('GET', '/api/collections?perPage=100')).items as PocketBaseCollection[];

  for (const { name } of (await read()).filter(
    ({ name }) => !name.startsWith('_') && !world.collections.some((it) => it.name === name),
  ))
    await asAdmin('DELETE', path(name));
  const old = new Set((await read()).map(({ name }) => name));
  // An old world's fields are dropped first: a collection that a relation names cannot be dropped.
  for (const { name } of world.collections)
    if (old.has(name))
      await asAdmin('PATCH', path(name), {
        listRule: null,
        viewRule: null,
        createRule: null,
        updateRule: null,
        deleteRule: null,
      });
  for (const { name } of world.collections)
    if (old.has(name)) {
      const { fields } = await asAdmin('GET', path(name));
      const kept = (fields as { name: string; system?: boolean }[]).filter(({ system }) => system);
      await asAdmin('PATCH', path(name), { fields: kept });
    }
  for (const { name } of world.collections) if (old.has(name)) await asAdmin('DELETE', path(name));

  for (const { name, type } of world.collections) await asAdmin('POST', '/api/collections', { name, type });
  const ids = new Map((await read()).map(({ name, id }) => [name, id]));
  const setFields = async (withRequired: boolean) => {
    for (const { name, fields } of world.collections) {
      const { fields: known } = await asAdmin('GET', path(name));
      const added = fields.map(({ target, required, ...field }) => ({
        ...field,
        ...(withRequired && required && { required }),
        ...(target && { collectionId: ids.get(target) }),
      }));
      const others = (known as { name: string }[]).filter(
        (field) => !added.some((it) => it.name === field.name) && field.name !== 'guard',
      );
      const withIds = added.map((field) => ({
        ...(known as { name: string }[]).find((it) => it.name === field.name),
        ...field,
      }));
      const optional = others.map((field) => (field.name === 'email' ? { ...field, required: false } : field));
      await asAdmin('PATCH', path(name), {
        fields: [...optional, ...withIds, { name: 'guard', type: 'text', max: 3 }],
      });
    }
  };
  await setFields(false);
  for (const withRelations of [false, true])
    for (const { name, type, fields } of world.collections)
      for (const record of world.records[name] ?? []) {
        const relations = Object.fromEntries(
          fields.filter(({ target }) => target).map((field) => [field.name, record[field.name]]),
        );
        const plain = Object.fromEntries(Object.entries(record).filter(([key]) => !(key in relations)));
        if (withRelations) await asAdmin('PATCH', `${path(name)}/records/${record.id}`, relations);
        else
          await asAdmin('POST', `${path(name)}/records`, {
            ...plain,
            ...(type === 'auth' && { password, passwordConfirm: password }),
          });
      }
  await setFields(true);

  const tokens = new Map<string, string>();
  for (const { name, type } of world.collections)
    if (type === 'auth')
      for (const { id } of world.records[name] ?? []) {
        const { token: own } = await asAdmin('POST', `${path(name)}/impersonate/${id}`, { duration: 100_000 });
        tokens.set(`${name}/${id}`, String(own));
      }
  const tokenOf = (caller: Caller) => (caller ? tokens.get(`${caller.collection}/${caller.id}`) : undefined);

  return {
    collections: await read(),
    async setRule(collection, rule, text) {
      const { status, body } = await send('PATCH', path(collection), { [rule]: text }, String(token));
      return status < 300 ? undefined : JSON.stringify(body);
    },
    async list(collection, caller) {
      const { status, body } = await send('GET', `${path(collection)}/records?perPage=50`, undefined, tokenOf(caller));
      if (status === 403) return [];
      if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
      return (body.items as WorldRecord[]).map(({ id }) => id).sort();
    },
    async admits(collection, { action, id, body }, caller) {
      const [method, at] = action === 'create' ? ['POST', ''] : ['PATCH', `/${id}`];
      const answer = await send(method, `${path(collection)}/records${at}`, { ...body, ...tooLong }, tokenOf(caller));
      if (answer.status < 300) throw new Error(`${method} was not stopped`);
      return 'guard' in (answer.body.data as object);
    },
  };
}
