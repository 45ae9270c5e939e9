import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, createClient } from '@recordbus/client';
import type { Schema } from '../recordbus.d.ts';

const directory = join(import.meta.dirname, '../schema/collections');

/** The demo's people. */
export const people = [
  { name: 'ada', email: 'ada@example.com', password: 'a long password' },
  { name: 'ben', email: 'ben@example.com', password: 'a long password' },
] as const;

/** Applies this directory's schema. Existing records stay. */
export async function applySchema(admin: Client<Schema>): Promise<void> {
  const files = readdirSync(directory).map((name) => JSON.parse(readFileSync(join(directory, name), 'utf8')));
  const schema = { version: 1 as const, collections: files };
  const { hash, changes } = await admin.admin.collections.schema.plan({ schema });
  if (changes.length > 0) await admin.admin.collections.schema.apply({ schema, hash });
}

/** Lets the page read answers, and sends task events to a receiver on this machine. Returns its secret. */
export async function connect(admin: Client<Schema>, page: string, receiver: string): Promise<string> {
  await admin.admin.settings.update({ 'cors.origins': page, 'hooks.http.allow': '127.0.0.1/32' });
  const { secret } = await admin.admin.webhooks.create({ name: 'tasks', url: receiver, events: ['tasks.*'] });
  return String(secret);
}

/** Signs the people up, with a list that they share and some tasks. Returns whether they are new. */
export async function seed(url: string): Promise<boolean> {
  const [ada, ben] = people;
  const client = createClient<Schema>(url);
  const known = await client
    .auth('people')
    .login(ada)
    .catch(() => undefined);
  if (known) return false;
  await createClient<Schema>(url).auth('people').register(ben);
  await client.auth('people').register(ada);
  const member = await client.from('people').first({ filter: (person) => person.name.eq(ben.name) });
  const list = await client.from('lists').create({ name: 'The engine', members: member ? [member.id] : [] });
  await client.batch((batch) =>
    ['Oil the gears', 'Punch the cards'].map((title) => batch.from('tasks').create({ list: list.id, title })),
  );
  return true;
}
