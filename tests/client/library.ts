import { type Client, createClient } from '@recordbus/client';
import { firstAdmin } from '../harness/stacks/stack.ts';
import type { Target } from '../harness/stacks/target.ts';
import type { Library } from './library-schema.d.ts';

export type { Library };

/** Defines the collections on a stack, and returns clients for them. */
export async function openLibrary(
  target: Target,
): Promise<{ readonly guest: Client<Library>; readonly admin: Client<Library> }> {
  const admin = await target.admin();
  const text = (name: string, more: object = {}) => ({ name, type: 'text', ...more });
  const relation = (name: string, collection: string, options: object = {}) => ({
    name,
    type: 'relation',
    collection,
    options,
  });
  const existing = await admin.get('/api/v1/collections/houses');
  if (existing.status === 404) {
    await admin.define('houses', [text('name', { required: true })]);
    await admin.define('writers', [text('name', { required: true }), relation('house', 'houses')]);
    await admin.define('tags', [text('name', { required: true })]);
    await admin.define(
      'books',
      [
        text('title', { required: true }),
        text('slug', { options: { unique: true } }),
        { name: 'stars', type: 'number' },
        { name: 'kind', type: 'select', options: { values: ['novel', 'poem'] } },
        relation('writer', 'writers'),
        relation('tags', 'tags', { multiple: true }),
        { name: 'meta', type: 'json' },
        { name: 'cover', type: 'file', options: { protected: true } },
        { name: 'pages', type: 'file', options: { multiple: true } },
      ],
      { history_enabled: true },
    );
  }
  const { token } = (await target.guest.post('/api/v1/admin/login', firstAdmin, 200)) as { token?: string };
  return { guest: createClient<Library>(target.url), admin: createClient<Library>(target.url, { token }) };
}
