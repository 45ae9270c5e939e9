/** A field for each type, required and optional, and names that other languages reserve. */
export const everyField = [
  { name: 'class', type: 'text', required: true },
  { name: 'toString', type: 'text' },
  { name: 'constructor', type: 'text' },
  { name: 'then', type: 'number' },
  { name: 'new', type: 'bool', required: true },
  { name: 'mail', type: 'email' },
  { name: 'home', type: 'url' },
  { name: 'body', type: 'editor' },
  { name: 'day', type: 'date', required: true, options: { default: '@now' } },
  { name: 'changed', type: 'autodate', onUpdate: true },
  { name: 'kind', type: 'select', required: true, options: { values: ['a', 'it\'s "b"'] } },
  { name: 'kinds', type: 'select', options: { values: ['a', 'b'], multiple: true } },
  { name: 'meta', type: 'json' },
  { name: 'secret', type: 'password' },
  { name: 'place', type: 'geoPoint' },
  { name: 'vec', type: 'vector', options: { dimensions: 2 } },
  { name: 'cover', type: 'file' },
  { name: 'pages', type: 'file', options: { multiple: true } },
  { name: 'hidden', type: 'text', view_rule: 'class = "x"' },
  { name: 'parent', type: 'relation', collection: 'class' },
  { name: 'owners', type: 'relation', collection: 'people', options: { multiple: true } },
];

export const usage = `
import { createClient } from '@recordbus/client';
import type { Class, Routes, Schema } from './recordbus.d.ts';

export async function check(): Promise<void> {
  const client = createClient<Schema, Routes>('http://localhost');
  const one: Class = await client.from('class').get('x');
  const texts: [string, string | null, string | undefined | null] = [one.class, one.constructor, one.hidden];
  const others: ['a' | 'it\\'s "b"', number, boolean, number | null] = [one.kind, one.day, one.new, one.then];
  const lists: [readonly string[], readonly string[], readonly ('a' | 'b')[] | null] = [one.pages, one.owners, one.kinds];
  // @ts-expect-error a password is never shown
  one.secret;
  // @ts-expect-error it may be absent
  one.hidden.length;
  await client.from('class').create({ class: 'x', new: true, kind: 'a', secret: 'x', cover: new File([], 'x') });
  // @ts-expect-error the kind is missing
  await client.from('class').create({ class: 'x', new: true });
  // @ts-expect-error the server sets it
  await client.from('class').create({ class: 'x', new: true, kind: 'a', changed: 3 });
  await client.from('class').update('x', { then: { $add: 1 }, kinds: { $append: ['b'] }, pages: { $remove: ['x'] }, meta: { a: 1 } });
  // @ts-expect-error there is no such kind
  await client.from('class').update('x', { kinds: { $append: ['c'] } });
  const { data } = await client.from('class').list({ expand: ['parent.owners', 'class_via_parent.parent.owners'] });
  const name: string | undefined = data[0]?.expand.parent?.expand.owners[0]?.email;
  const deep: string | undefined = data[0]?.expand.class_via_parent[0]?.expand.parent?.expand.owners[0]?.email;
  await client.from('class').list({ filter: (row) => row.and(row.constructor.eq('x'), row.then.gt(1), row.field('class').ne('y')) });
  const live = await client.from('class').live({ expand: ['parent.owners', 'class_via_parent'], sort: '-then' });
  const owner: string | undefined = live.records[0]?.expand.parent?.expand.owners[0]?.email;
  live.onChange((records) => records[0]?.expand.class_via_parent[0]?.class.length);
  // @ts-expect-error it is not expanded
  live.records[0]?.expand.owners;
  // @ts-expect-error there is no such relation
  await client.from('class').live({ expand: ['nothing'] });
  await client.from('class').subscribe({
    expand: ['owners'],
    onMessage(change) {
      if (change.type === 'update') change.record.expand.owners[0]?.email.length;
      // @ts-expect-error it is not expanded
      if (change.type === 'update') change.record.expand.parent;
    },
  });
  client.from('class').file({ id: 'x' }, 'cover')?.url({ query: { key: 'x' } });
  client.from('class').files({ id: 'x' }, 'pages');
  // @ts-expect-error it is not a file
  client.from('class').file({ id: 'x' }, 'body');
  // @ts-expect-error its records cannot sign in
  client.auth('class');
  await client.from('class').list({ query: { key: 'x' } });
  await client.from('class').get('x', { query: { key: 'x' } });
  await client.from('class').delete('x', { query: { key: 'x' } });
  // @ts-expect-error a view is only read
  await client.from('class_names').create({ class: 'x' });
  const view: string | null = (await client.from('class_names').first())?.class ?? null;
  await client.auth('people').register({ email: 'x', password: 'x', nick: 'x' });
  const lent: { readonly id: string; readonly until: number } = await client.call('POST /api/x/books/{id}/lend', {
    params: { id: 'x' },
    body: { days: 3 },
  });
  // @ts-expect-error the body is missing
  await client.call('POST /api/x/books/{id}/lend', { params: { id: 'x' } });
  // @ts-expect-error there is no such route
  await client.call('POST /api/x/nothing');
  void [texts, others, lists, name, deep, owner, view, lent];
}
`;

/** An extension whose hooks and tools are typed by the same file. */
export const typedExtension = `
import { cron, defineExtension, type HandlerTools, refuse, route, z } from '@recordbus/extensions';
import type { Schema } from './recordbus.d.ts';

/** Outside defineExtension the tools are named. */
const moving = route({
  method: 'GET',
  path: '/moving',
  handler: async (_request, { transaction }: HandlerTools<Schema>) =>
    transaction(async (tx) => (await tx.records.list('class')).data.map((one) => one.class.length)),
});

export const extension = defineExtension<Schema>({
  hooks: {
    class: {
      async beforeCreate({ values, previous }, { records }) {
        const kind: string | undefined = values.kind;
        if (kind === undefined) throw refuse(422, 'validation failed', { kind: 'is required' });
        values.class = 'set by the hook';
        // @ts-expect-error there is no such kind
        values.kind = 'c';
        // @ts-expect-error it is a text
        values.class = 3;
        const before: string | null | undefined = previous?.constructor;
        const owner = await records.get('people', 'x');
        const nick: string | null = owner.nick;
        await records.create('people', { email: 'x', nick });
        // @ts-expect-error there is no such collection
        await records.get('nothing', 'x');
        // @ts-expect-error the address is missing
        await records.create('people', { nick });
        void before;
      },
      beforeUpdate({ values, previous, id }) {
        const before: string | null = previous.constructor;
        const stored: string = id;
        if (values.kind === previous.kind) return;
        void [before, stored];
      },
      beforeDelete({ previous }) {
        const name: string = previous.class;
        void name;
      },
      afterUpdate({ record, previous, changed }) {
        const pages: readonly string[] = record.pages;
        const before: string = previous.class;
        const names: readonly string[] = changed;
        // @ts-expect-error there is no such field
        record.nothing;
        void [pages, before, names];
      },
      afterDelete({ previous }) {
        // @ts-expect-error only an update has the record before it
        previous.class;
      },
    },
    // @ts-expect-error there is no such collection
    nothing: {},
  },
  signIn: {
    people: {
      async after({ userId }, { records }) {
        const { nick } = await records.get('people', userId);
        // @ts-expect-error it may be null
        nick.length;
      },
    },
  },
  routes: [
    route({
      method: 'POST',
      path: '/move/:id',
      params: z.object({ id: z.string() }),
      body: z.object({ to: z.string() }),
      handler: ({ params, body }, { transaction }) =>
        transaction(async (tx) => {
          const one = await tx.records.lock('class', params.id);
          const name: string = one.class;
          await tx.records.update('class', one.id, { class: name + body.to, then: { $add: 1 } });
          // @ts-expect-error there is no such collection
          await tx.records.get('nothing', 'x');
          // @ts-expect-error there is no such kind
          await tx.records.update('class', one.id, { kind: 'c' });
          // @ts-expect-error the body has no such member
          body.nothing;
          return one.kind;
        }),
    }),
    moving,
  ],
  crons: [
    cron({
      name: 'sweep',
      schedule: '0 4 * * *',
      async handler(_run, { records, transaction }) {
        const { data } = await records.list('class');
        await transaction((tx) => tx.records.delete('class', data[0]?.id ?? ''));
        // @ts-expect-error there is no such field
        data[0]?.nothing;
      },
    }),
  ],
});
`;

export const extension = `
import { defineExtension, route, z } from '@recordbus/extensions';
export const extension = defineExtension({
  routes: [
    route({
      method: 'POST',
      path: '/books/:id/lend',
      access: 'public',
      params: z.object({ id: z.string() }),
      body: z.object({ days: z.number().int() }),
      answer: z.object({ id: z.string(), until: z.number() }),
      handler: ({ params, body }) => ({ id: params.id, until: body.days }),
    }),
  ],
});
`;
