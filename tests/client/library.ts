import { type Client, createClient } from '@recordbus/client';
import { firstAdmin } from '../harness/stack.ts';
import type { Target } from '../harness/target.ts';

/** The types of the collections of `openLibrary`, in the form that `recordbus types` writes. */
export interface Library {
  houses: { record: House; create: { name: string }; update: { name?: string }; expand: HouseExpand };
  writers: { record: Writer; create: WriterCreate; update: Partial<WriterCreate>; expand: WriterExpand };
  books: { record: Book; create: BookCreate; update: BookUpdate; expand: BookExpand };
  tags: { record: Tag; create: { name: string }; update: { name?: string }; expand: Record<never, never> };
}

interface House {
  readonly id: string;
  readonly name: string;
  readonly created: number;
  readonly updated: number;
}

interface HouseExpand {
  readonly writers_via_house: readonly ['writers'];
}

interface Writer {
  readonly id: string;
  readonly name: string;
  readonly house: string | null;
  readonly created: number;
  readonly updated: number;
}

interface WriterCreate {
  name: string;
  house?: string | null;
}

interface WriterExpand {
  readonly house: 'houses';
  readonly books_via_writer: readonly ['books'];
}

interface Tag {
  readonly id: string;
  readonly name: string;
  readonly created: number;
  readonly updated: number;
}

interface Book {
  readonly id: string;
  readonly title: string;
  readonly slug: string | null;
  readonly stars: number | null;
  readonly kind: 'novel' | 'poem' | null;
  readonly writer: string | null;
  readonly tags: readonly string[];
  readonly meta: unknown;
  readonly cover: string | null;
  readonly pages: readonly string[];
  readonly created: number;
  readonly updated: number;
}

interface BookCreate {
  title: string;
  slug?: string | null;
  stars?: number | null;
  kind?: 'novel' | 'poem' | null;
  writer?: string | null;
  tags?: readonly string[];
  meta?: unknown;
  cover?: Blob | null;
  pages?: readonly Blob[];
}

type BookUpdate = Partial<Omit<BookCreate, 'stars' | 'tags' | 'pages'>> & {
  stars?: number | null | { readonly $add: number };
  tags?: readonly string[] | { readonly $append?: readonly string[]; readonly $remove?: readonly string[] };
  pages?: readonly (string | Blob)[] | null;
};

interface BookExpand {
  readonly writer: 'writers';
  readonly tags: readonly ['tags'];
}

/** Defines the collections on a stack, and returns clients of them. */
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
  const define = (name: string, fields: readonly object[], more: object = {}) =>
    admin.post('/api/v1/collections', { name, type: 'base', fields, ...more });
  const existing = await admin.get('/api/v1/collections/houses');
  if (existing.status === 404) {
    await define('houses', [text('name', { required: true })]);
    await define('writers', [text('name', { required: true }), relation('house', 'houses')]);
    await define('tags', [text('name', { required: true })]);
    await define(
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
