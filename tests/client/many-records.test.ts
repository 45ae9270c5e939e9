import assert from 'node:assert/strict';
import { f, isConflict, RecordbusError } from '@recordbus/client';
import { eventually } from '../harness/eventually.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { openLibrary } from './library.ts';

onEachTopology('the client sends batches', async (t, target) => {
  const { guest } = await openLibrary(target);

  await t.test("returns a batch's records", async () => {
    const made = await guest.batch((batch) => {
      const tag = batch.from('tags').create({ name: 'batched' });
      const book = batch.from('books').create({ title: 'Batched', tags: [tag.ref('id')] });
      return { tag, rest: [book, batch.from('books').update(book.ref('id'), { stars: { $add: 2 } })] as const };
    });
    assert.deepEqual(made.rest[0].tags, [made.tag.id]);
    assert.equal(made.rest[1].stars, 2);
    const changed = await guest.from('books').update(made.rest[1], { stars: 3 });
    const [gone, put] = await guest.batch(
      (batch) => [batch.from('books').delete(changed), batch.from('tags').upsert('put', { name: 'put' })] as const,
    );
    assert.deepEqual([gone, put.name], [null, 'put']);
  });

  await t.test('reports the refused operation, and does nothing', async () => {
    const refused = await guest
      .batch((batch) => {
        batch.from('tags').create({ name: 'kept back' });
        batch.from('books').create({ title: '' });
      })
      .catch((error: unknown) => error);
    assert.ok(refused instanceof RecordbusError);
    assert.deepEqual([refused.status, refused.details.index], [422, 1]);
    assert.equal((await guest.from('tags').list({ filter: f`name = ${'kept back'}` })).totalItems, 0);
  });

  await t.test('compares versions, including the versions in lists', async () => {
    const book = await guest.from('books').create({ title: 'Listed' });
    await target.guest.patch(`/api/v1/books/${book.id}`, { stars: 4 });
    const [listed] = (await guest.from('books').list({ filter: f`id = ${book.id}` })).data;
    assert.ok(listed);
    const old = { ...listed };
    await guest.batch((batch) => batch.from('books').update(listed, { stars: 5 }));
    const refused = await guest
      .batch((batch) => batch.from('books').update(old, { stars: 6 }))
      .catch((error: unknown) => error);
    assert.ok(isConflict(refused));
    assert.match(refused.version ?? '', /^W\/"/);
  });

  await t.test('has files', async () => {
    const book = await guest.batch((batch) =>
      batch.from('books').create({ title: 'Filed', pages: [new File(['P'], 'p.txt')] }),
    );
    assert.match(book.pages[0] ?? '', /^p_/);
  });
});

onEachTopology('the client imports and exports records', async (t, target) => {
  const { admin } = await openLibrary(target);
  await t.test('as CSV, with a job', async () => {
    const rows = 'name\nimported 1\nimported 2\n';
    const job = await admin.from('tags').import(rows, { format: 'csv' });
    await eventually('the job is done', async () => (await admin.admin.jobs.get(job.id)).state === 'done');
    const answer = await admin.from('tags').export({ filter: f`name ~ ${'imported'}`, sort: 'name', fields: ['name'] });
    assert.match(await answer.text(), /imported 1\r?\n.*imported 2/);
  });
});
