import assert from 'node:assert/strict';
import { createClient, f, isConflict, RecordbusError } from '@recordbus/client';
import { onEachTopology } from '../harness/stacks/target.ts';
import { openLibrary } from './library.ts';

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no error',
    (error) => (error instanceof RecordbusError ? `${error.status} ${error.code}` : error),
  );

onEachTopology('the client reads and writes records', async (t, target) => {
  const { guest, admin } = await openLibrary(target);
  const books = guest.from('books');
  const house = await guest.from('houses').create({ name: 'Core' });
  const writer = await guest.from('writers').create({ name: 'Ada', house: house.id });
  const [old, fresh] = [
    await guest.from('tags').create({ name: 'old' }),
    await guest.from('tags').create({ name: 'new' }),
  ];
  const dune = await books.create({
    title: 'Dune',
    slug: 'dune',
    stars: 5,
    kind: 'novel',
    writer: writer.id,
    tags: [old.id, fresh.id],
  });
  const quote = await books.create({ title: 'A "quote" \\ and \\" more', stars: 1, meta: { size: [3, 'x'] } });

  await t.test('lists with a field filter, a sort and expansions', async () => {
    const page = await books.list({
      filter: (book) => book.and(book.stars.gte(3), book.writer.house.name.eq('Core')),
      sort: '-stars',
      expand: ['writer.house', 'tags'],
    });
    assert.equal(page.totalItems, 1);
    const [first] = page.data;
    assert.equal(first?.expand.writer?.expand.house?.name, 'Core');
    assert.deepEqual(
      first?.expand.tags.map((tag) => tag.name),
      ['old', 'new'],
    );
  });

  await t.test("finds exactly a value's text, whatever it contains", async () => {
    for (const { id, title } of [dune, quote]) {
      const byTag = await books.list({ filter: f`title = ${title}` });
      const byField = await books.list({ filter: (book) => book.title.eq(title) });
      assert.deepEqual(
        [byTag, byField].map(({ data }) => data.map((book) => book.id)),
        [[id], [id]],
      );
    }
    const attack = '" || id != "';
    assert.equal((await books.list({ filter: f`title = ${attack}` })).totalItems, 0);
  });

  await t.test('writes every kind of test', async () => {
    const found = async (filter: Parameters<typeof books.list>[0]) => (await books.list(filter)).totalItems;
    assert.equal(await found({ filter: (book) => book.kind.in(['novel', 'poem']) }), 1);
    assert.equal(await found({ filter: (book) => book.kind.in([]) }), 0);
    assert.equal(await found({ filter: (book) => book.and() }), 2);
    assert.equal(await found({ filter: (book) => book.or() }), 0);
    assert.equal(await found({ filter: (book) => book.not(book.kind.eq('novel')) }), 1);
    assert.equal(await found({ filter: (book) => book.kind.eq(null) }), 1);
    assert.equal(await found({ filter: (book) => book.title.lower.contains('DUNE') }), 1);
    assert.equal(await found({ filter: (book) => book.title.length.eq(4) }), 1);
    assert.equal(await found({ filter: (book) => book.tags.all.ne(old.id) }), 1);
    assert.equal(await found({ filter: (book) => book.tags.name.eq('new') }), 1);
    assert.equal(await found({ filter: (book) => book.meta.at('size', 0).eq(3) }), 1);
    assert.equal(await found({ filter: (book) => book.count(book.tags).eq(2) }), 1);
    assert.equal(await found({ filter: (book) => book.created.gt(new Date(Date.now() - 3_600_000)) }), 2);
    assert.equal(await found({ filter: (book) => book.stars.lt(1e21) }), 2);
    assert.equal(await found({ filter: (book) => book.stars.gt(1.5e-7) }), 2);
    assert.equal(await found({ filter: (book) => book.exists('writers', (one) => one.id.eq(one.record.writer)) }), 1);
    assert.equal(
      await found({ filter: (book) => book.and(f`stars > ${3} || stars < ${2}`, book.field('title').ne('x')) }),
      2,
    );
    const writers = await guest.from('writers').list({ filter: (one) => one.count(one.books_via_writer).gt(0) });
    assert.equal(writers.totalItems, 1);
  });

  await t.test('expands back-relations with options', async () => {
    const one = await guest.from('writers').get(writer.id, { expand: ['books_via_writer(sort:-stars,total:1).tags'] });
    assert.equal(one.expand.books_via_writer.total, 1);
    assert.equal(one.expand.books_via_writer.items[0]?.expand.tags.length, 2);
  });

  await t.test('returns only the requested fields', async () => {
    const first = await books.first({ fields: ['title'], sort: 'title' });
    assert.deepEqual(Object.keys(first ?? {}).sort(), ['id', 'title']);
    assert.equal(await books.first({ filter: f`title = ${'none'}` }), undefined);
  });

  await t.test('reads all records page by page', async () => {
    const titles: string[] = [];
    for await (const book of books.all({ perPage: 1, sort: 'title' })) titles.push(book.title);
    assert.deepEqual(titles, [quote.title, 'Dune']);
  });

  await t.test("refuses to overwrite others' writes, and reports the current version", async () => {
    const [mine, theirs] = [await books.get(dune.id), await books.get(dune.id)];
    const written = await books.update(theirs, { stars: 4 });
    const refused = await books.update(mine, { stars: 3 }).catch((error: unknown) => error);
    assert.ok(isConflict(refused));
    assert.equal((await books.update(dune.id, { stars: 2 }, { ifMatch: refused.version ?? false })).stars, 2);
    assert.ok(isConflict(await books.delete(written).catch((error: unknown) => error)));
    assert.equal((await books.update(mine, { stars: { $add: 3 } }, { ifMatch: false })).stars, 5);
  });

  await t.test('knows the version of a listed record, even after several writes in a second', async () => {
    await target.guest.patch(`/api/v1/books/${dune.id}`, { stars: 4 });
    await target.guest.patch(`/api/v1/books/${dune.id}`, { stars: 5 });
    const { data } = await books.list({ filter: f`slug = ${'dune'}` });
    const [listed] = data;
    assert.ok(listed);
    const copy = { ...listed };
    const changed = await books.update(listed, { kind: 'poem' });
    assert.equal(changed.kind, 'poem');
    assert.ok(isConflict(await books.update(copy, { kind: 'novel' }).catch((error: unknown) => error)));
    assert.equal(await codeOf(books.update({ id: dune.id }, { kind: 'novel' })), '0 version_unknown');
  });

  await t.test('creates or changes by id and by unique fields', async () => {
    const created = await books.upsert({ on: ['slug'] }, { slug: 'emma', title: 'Emma' });
    const changed = await books.upsert({ on: ['slug'] }, { slug: 'emma', stars: 3 });
    assert.deepEqual([changed.id, changed.title, changed.stars], [created.id, 'Emma', 3]);
    const named = await books.upsert('by-hand', { title: 'Named' });
    assert.equal(named.id, 'by-hand');
    assert.equal(
      await codeOf(books.upsert('by-hand', { title: 'Again' }, { onlyCreate: true })),
      '412 precondition_failed',
    );
    await books.delete(named);
    await books.delete(changed);
    assert.equal(await codeOf(books.get('by-hand')), '404 not_found');
  });

  await t.test('shows and restores versions', async () => {
    const book = await admin.from('books').create({ title: 'First' });
    await admin.from('books').update(book, { title: 'Second' });
    const { data } = await admin.from('books').history(book);
    assert.deepEqual(
      data.map(({ op, snapshot }) => [op, snapshot.title]),
      [
        ['update', 'Second'],
        ['create', 'First'],
      ],
    );
    const restored = await admin.from('books').restore(book.id, { version: data[1]?.version ?? '' });
    assert.equal(restored.title, 'First');
    await admin.from('books').delete(restored);
    assert.equal(await codeOf(admin.from('books').restore(book.id, { at: 4e9 })), '409 record_deleted');
    assert.equal((await admin.from('books').restore(book.id, { at: 4e9, deleted: true })).title, 'First');
    await admin.from('books').delete(book.id);
  });

  await t.test('groups records', async () => {
    const { data } = await books.aggregate<{ kind: string | null; count: number; sum_stars: number }>({
      group: ['kind'],
      count: true,
      sum: ['stars'],
      having: f`count >= ${1}`,
    });
    assert.deepEqual(data, [
      { kind: 'poem', count: 1, sum_stars: 5 },
      { kind: null, count: 1, sum_stars: 1 },
    ]);
  });

  await t.test('has one error for everything', async () => {
    const wrong = await books.create({ title: '' }).catch((error: unknown) => error);
    assert.ok(wrong instanceof RecordbusError);
    assert.deepEqual([wrong.status, wrong.code, wrong.details], [422, 'validation_failed', { title: 'is required' }]);
    assert.match(wrong.requestId ?? '', /./);
    assert.equal(
      await codeOf(
        createClient('http://127.0.0.1:1', { fetch: () => Promise.reject(new TypeError()) }).request({
          method: 'POST',
          path: '/',
        }),
      ),
      '0 network',
    );
    assert.equal(await codeOf(books.get('..')), '0 invalid_argument');
    assert.equal(await codeOf(books.list({ filter: () => f`stars = ${Number.NaN}` })), '0 invalid_argument');
    assert.equal(await codeOf(books.list({ filter: (() => {}) as never })), '0 invalid_argument');
    assert.equal(await codeOf(guest.request({ method: 'GET', path: '@example.com/' })), '0 invalid_argument');
    const stop = AbortSignal.abort();
    assert.equal(await codeOf(books.list({ signal: stop })), '0 aborted');
  });
});

onEachTopology('the client sends and reads files', async (t, target) => {
  const { guest, admin } = await openLibrary(target);
  const books = guest.from('books');
  const textFile = (name: string, text: string) => new File([text], name, { type: 'text/plain' });

  await t.test('uploads, keeps some files, and adds others', async () => {
    const book = await books.create({
      title: 'With files',
      pages: [textFile('a "b".txt', 'A'), textFile('b.txt', 'B')],
      stars: 2,
    });
    assert.equal(book.stars, 2);
    const [first = '', second = ''] = book.pages;
    const kept = await books.update(book, { pages: [second, textFile('c.txt', 'C')] });
    assert.equal(kept.pages.length, 2);
    assert.equal(kept.pages[0], second);
    assert.ok(!kept.pages.includes(first));
    const texts = await Promise.all(books.files(kept, 'pages').map(async (file) => (await file.fetch()).text()));
    assert.deepEqual(texts, ['B', 'C']);
    assert.match(await (await fetch(books.files(kept, 'pages')[0]?.url({ download: true }) ?? '')).text(), /^B$/);
    assert.equal(books.file(kept, 'cover'), undefined);
  });

  await t.test('uploads files next to a list of other values', async () => {
    const tags = [await guest.from('tags').create({ name: 'new' }), await guest.from('tags').create({ name: 'old' })];
    const ids = tags.map(({ id }) => id);
    const book = await books.create({ title: 'In order', tags: ids, pages: [textFile('a.txt', 'A')] });
    assert.deepEqual(book.tags, ids);
    const changed = await books.update(book, { tags: ids.toReversed(), cover: textFile('cover.txt', 'Cover') });
    assert.deepEqual([changed.tags, changed.pages], [ids.toReversed(), book.pages]);
  });

  await t.test('opens protected files with a token', async () => {
    const book = await admin.from('books').create({ title: 'Secret', cover: textFile('cover.txt', 'Cover') });
    const file = books.file(book, 'cover');
    assert.ok(file);
    assert.equal((await fetch(file.url())).status, 401);
    assert.equal(await (await fetch(await file.signedUrl())).text(), 'Cover');
    assert.equal(await (await file.fetch()).text(), 'Cover');
    const { token } = await admin.fileToken();
    assert.equal((await fetch(file.url({ token }))).status, 200);
  });

  await t.test("reports an upload's progress", async () => {
    const steps: { sent: number; total: number }[] = [];
    const size = 5_000_000;
    const book = await books.create(
      { title: 'Large', pages: [new Blob([new Uint8Array(size)])] },
      { onProgress: (step) => steps.push(step) },
    );
    assert.equal(book.pages.length, 1);
    const last = steps.at(-1);
    assert.ok(steps.length > 2 && last && last.sent === last.total && last.total > size);
    assert.ok(steps.every(({ sent }, index) => sent > (steps[index - 1]?.sent ?? 0)));
  });
});
