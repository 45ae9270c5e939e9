import { type Client, createClient, f } from '@recordbus/client';
import type { Library } from './library-schema.d.ts';

/** Code that must compile, and lines that must not. It is never run. */
export async function checkTypes(client: Client<Library> = createClient<Library>('http://localhost')): Promise<void> {
  const books = client.from('books');
  // @ts-expect-error there is no such collection
  client.from('nothing');

  const book = await books.get('x');
  const title: string = book.title;
  const kind: 'novel' | 'poem' | null = book.kind;
  // @ts-expect-error a record without `expand` has none
  book.expand;
  // @ts-expect-error stars may be null
  book.stars.toFixed();
  // @ts-expect-error there is no such field
  book.nothing;

  const { data } = await books.list({ expand: ['writer.house.writers_via_house', 'tags'] });
  for (const one of data) {
    const name: string | undefined = one.expand.writer?.expand.house?.name;
    const tags: readonly string[] = one.expand.tags.map((tag) => tag.name);
    const others: string | undefined = one.expand.writer?.expand.house?.expand.writers_via_house[0]?.name;
    void [name, tags, others];
    // @ts-expect-error it may be absent
    one.expand.writer.name;
    // @ts-expect-error it is not expanded
    one.expand.writer?.expand.books_via_writer;
  }
  const writers = await client.from('writers').list({ expand: ['books_via_writer(limit:5,total:1).tags'] });
  const counted: number | undefined = writers.data[0]?.expand.books_via_writer.total;
  const tagName: string | undefined = writers.data[0]?.expand.books_via_writer.items[0]?.expand.tags[0]?.name;
  // @ts-expect-error there is no such relation
  await books.list({ expand: ['nothing'] });
  // @ts-expect-error nor behind a relation
  await books.list({ expand: ['writer.nothing'] });
  // @ts-expect-error nor behind two
  await books.get('x', { expand: ['writer.house.nothing'] });

  const few = await books.first({ fields: ['title', 'expand.writer.name'], expand: ['writer'] });
  const short: { readonly id: string; readonly title: string } | undefined = few;
  // @ts-expect-error it was not asked for
  few?.stars;
  // @ts-expect-error there is no such field
  await books.first({ fields: ['nothing'] });
  const withFiles = await books.first({ fields: ['title', '_files'] });
  const original: string | null | undefined = withFiles?._files.cover?.[0]?.original;
  // @ts-expect-error they were not asked for
  few?._files;

  await books.list({
    filter: (one) => one.and(one.stars.gte(3), one.writer.house.name.eq('core'), one.kind.in(['novel'])),
  });
  const found = await books.search('sea', { fields: ['title', '_score'], highlight: ['title'], facets: ['kind'] });
  const best: { readonly title: string; readonly _score: number } | undefined = found.data[0];
  const { novel: novels } = found.facets?.kind ?? {};
  // @ts-expect-error it was not asked for
  found.data[0]?._highlight;
  // @ts-expect-error there is no such field
  await books.search('sea', { facets: ['nothing'] });
  const [first, second] = await client.search([
    { collection: 'books', search: 'sea', filter: (one) => one.stars.gte(3), fields: ['title'] },
    { collection: 'writers', search: 'sea' },
  ]);
  if (first.status === 200 && 'data' in first && 'data' in second) {
    const names: string | undefined = second.data[0]?.name;
    const bookTitle: string | undefined = first.data[0]?.title;
    void [names, bookTitle];
    // @ts-expect-error it was not asked for
    first.data[0]?.stars;
  }
  void [best, novels, original];

  await books.list({ filter: (one) => one.created.lt(new Date()), sort: ['-stars', 'writer.name'] });
  await books.list({ filter: f`stars > ${3}` });
  // @ts-expect-error stars is a number
  await books.list({ filter: (one) => one.stars.eq('3') });
  // @ts-expect-error there is no such kind
  await books.list({ filter: (one) => one.kind.eq('song') });
  // @ts-expect-error there is no such field
  await books.list({ filter: (one) => one.writer.nothing.eq('x') });
  // @ts-expect-error an object is not a value of a filter
  f`stars > ${{}}`;

  await books.create({ title: 'x', cover: new Blob(['x']), tags: ['x'] });
  // @ts-expect-error the title is missing
  await books.create({ stars: 3 });
  // @ts-expect-error the server sets it
  await books.create({ title: 'x', created: 3 });
  await books.update(book, { stars: { $add: 1 }, tags: { $append: ['x'] } });
  // @ts-expect-error a text has no operators
  await books.update(book, { title: { $add: 1 } });
  // @ts-expect-error a title is a text
  await books.update('x', { title: 3 });
  await books.upsert({ on: ['slug'] }, { slug: 'x', title: 'x' });
  // @ts-expect-error there is no such field
  await books.upsert({ on: ['nothing'] }, { title: 'x' });

  const made = await client.batch((batch) => {
    const tag = batch.from('tags').create({ name: 'x' });
    return {
      tag,
      gone: batch.from('books').delete(book),
      all: [batch.from('books').create({ title: 'x', tags: [tag.ref('id')] })] as const,
    };
  });
  const names: [string, null, readonly string[]] = [made.tag.name, made.gone, made.all[0].tags];
  await client.batch((batch) => {
    // @ts-expect-error the name is missing
    batch.from('tags').create({});
  });

  const list = await books.live({ filter: (one) => one.stars.gt(1), expand: ['tags'], limit: 5 });
  const live: readonly (string | undefined)[] = list.records.map((one) => one.expand.tags[0]?.name);
  await books.subscribe({
    onMessage(change) {
      if (change.type === 'update') void change.record.title;
      // @ts-expect-error a delete has no record
      if (change.type === 'delete') void change.record;
    },
  });
  const signIn = await client.auth('writers').login({ email: 'x', password: 'x' });
  // @ts-expect-error it may need a second factor
  signIn.record;
  const next = signIn.state === 'mfa_required' ? await signIn.confirm({ code: '123456' }) : signIn;
  // @ts-expect-error it may have to set up a second factor
  next.record;
  const signed = next.state === 'mfa_enrollment_required' ? await next.confirmApp('123456') : next;
  const who: string = signed.record.name;
  void [title, kind, counted, tagName, short, names, live, who];
}
