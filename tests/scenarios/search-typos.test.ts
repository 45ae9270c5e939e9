import assert from 'node:assert/strict';
import type { Client } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, type JsonObject, listAt, numberAt, objectAt } from '../harness/json.ts';
import { onEachTopology, onOneProcess } from '../harness/stacks/target.ts';
import { untilReady } from './search-ready.ts';

const text = (name: string) => ({ name, type: 'text' });

const search = async (client: Client, collection: string, words: string, more = ''): Promise<JsonObject> => {
  const answer = await client.get(`/api/v1/${collection}?perPage=200&search=${encodeURIComponent(words)}${more}`);
  assert.equal(answer.status, 200, answer.text);
  return objectAt(answer, 'json');
};

onEachTopology('a search corrects typos', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', {
    name: 'places',
    type: 'base',
    fields: [text('title'), text('body'), { name: 'public', type: 'bool' }],
    list_rule: 'public = true',
  });
  const index = { name: 'words', type: 'search', fields: [{ field: 'title' }, { field: 'body' }], language: 'english' };
  const indexes = '/api/v1/admin/collections/places/indexes';
  const make = (title: string, isPublic = true, body = '') => admin.create('places', { title, body, public: isPublic });
  await make('Museum for everyone');
  await make('Running gardens');
  await make('A garden');
  await make('Elephants in Montréal');
  await make('The secretword', false);
  await make('warden', false);
  await make('harden', true, 'lone');
  await make('東京 lake');
  await admin.post(indexes, index);
  await untilReady(admin, 'places');
  await eventually('every replica searches', async () => (await admin.get('/api/v1/places?search=x')).status === 200);

  const corrects = (name: string, words: string, corrected: object | undefined, more = '') =>
    t.test(`${name} [search §2.6]`, async () => {
      const answer = await search(target.guest, 'places', words, more);
      assert.deepEqual(answer.corrected, corrected, JSON.stringify(answer));
    });
  await corrects('exchanged letters are one change', 'musuem', { musuem: ['museum'] });
  await corrects('a typo among other words', 'everyone musuem', { musuem: ['museum'] });
  await corrects('a correction is a whole word, not its stem', 'runnign gardens', { runnign: ['running'] });
  await corrects('two changes of eight letters', 'elefants', { elefants: ['elephants'] });
  await corrects('two changes of seven letters are too many', 'elefant', undefined);
  await corrects('accents do not count', 'Mnotreal', { Mnotreal: ['montreal'] });
  await corrects('three letters are too few', 'lak', undefined);
  await corrects('a word that only hidden records have is a typo', 'warden garden', { warden: ['garden', 'harden'] });
  await corrects('the nearest first, then the more frequent', 'farden', { farden: ['garden', 'harden'] });
  await corrects('phrases stay', '"musuem"', undefined);
  await corrects('unwanted words stay', 'garden -musuem', undefined);
  await corrects('with any, each word is corrected', 'lake musuem', { musuem: ['museum'] }, '&searchMode=any');
  await corrects('alternatives are corrected', 'lake or musuem', { musuem: ['museum'] });
  await corrects('letters of scripts without spaces stay', '東京都京東', undefined);
  await corrects('numbers stay', '2025', undefined);
  await corrects('a filter counts', 'farden', { farden: ['harden'] }, `&filter=${encodeURIComponent('body = "lone"')}`);
  await corrects('a hidden word is not a correction', 'secretwrd', undefined);

  await t.test('a corrected search finds, counts and marks like the right one [search §2.6]', async () => {
    const typo = await search(target.guest, 'places', 'elefants', '&highlight=title');
    const right = await search(target.guest, 'places', 'elephants', '&highlight=title');
    assert.deepEqual(typo, { ...right, corrected: { elefants: ['elephants'] } });
  });

  await t.test('new words are known soon, and follow a rename [search §2.6]', async () => {
    await admin.patch('/api/v1/collections/places', { name: 'sights' });
    await eventually('the new name', async () => (await admin.get('/api/v1/sights?search=x')).status === 200);
    await admin.create('sights', { title: 'platypus', public: true });
    await eventually('the word is known', async () => {
      const answer = await search(target.guest, 'sights', 'paltypus');
      return answer.totalItems === 1;
    });
  });

  await t.test('typos: false leaves words as they are [search §1.1]', async () => {
    const changed = await admin.patch('/api/v1/admin/collections/sights/indexes/words', { typos: false });
    assert.equal(changed.typos, false);
    await untilReady(admin, 'sights');
    await eventually('every replica leaves words as they are', async () => {
      const answer = await target.guest.get('/api/v1/sights?search=musuem');
      return answer.status === 200 && at(answer.json, 'corrected') === undefined;
    });
  });
});

onOneProcess('hidden words leave no correction out', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', {
    name: 'crowds',
    type: 'base',
    fields: [text('title'), { name: 'public', type: 'bool' }],
    list_rule: 'public = true',
  });
  const letters = [...'abcdefghijklmnopqrsuvwxy'];
  const near = letters.flatMap((first) => letters.map((second) => `${first}${second}tttttt`));
  const words = (length: number): string[] =>
    length === 0 ? [''] : words(length - 1).flatMap((word) => ['a', 'b', 't'].map((letter) => word + letter));
  // More near words than are counted at once, and more with such letters than are read at once.
  await admin.create('crowds', { title: [...near, ...words(8)].join(' '), public: false });
  await admin.create('crowds', { title: 'ttttttzz', public: true });
  await admin.post('/api/v1/admin/collections/crowds/indexes', {
    name: 'words',
    type: 'search',
    fields: [{ field: 'title' }],
    prefix: false,
  });
  await untilReady(admin, 'crowds');
  await eventually('the replica searches', async () => (await admin.get('/api/v1/crowds?search=x')).status === 200);

  await t.test('a visible word behind more than 300 near hidden ones is found [search §2.6]', async () => {
    await eventually('all words are known', async () => {
      const known = async (client: Client, typo: string) =>
        (await search(client, 'crowds', typo)).corrected !== undefined;
      return (await known(admin, 'ttttttqq')) && (await known(target.guest, 'ttttttzq'));
    });
    const { corrected } = await search(target.guest, 'crowds', 'tttttttt');
    assert.deepEqual(corrected, { tttttttt: ['ttttttzz'] });
  });
});

/** How many letters must change to make one word of the other, where neighbours may be exchanged. */
function distance(a: string, b: string): number {
  const rows: number[][] = [];
  for (let i = 0; i <= a.length; i += 1)
    for (let j = 0; j <= b.length; j += 1) {
      const of = (x: number, y: number) => rows[x]?.[y] ?? Number.POSITIVE_INFINITY;
      const steps = [of(i - 1, j) + 1, of(i, j - 1) + 1, of(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)];
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) steps.push(of(i - 2, j - 2) + 1);
      rows[i] = [...(rows[i] ?? []), i === 0 && j === 0 ? 0 : Math.min(...steps)];
    }
  return rows[a.length]?.[b.length] ?? 0;
}

onOneProcess('corrections tell a caller nothing that a list does not', async (t, target) => {
  const admin = await target.admin();
  const user = await target.user();
  let state = 11;
  const random = (max: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * max);
  };
  const word = () => Array.from({ length: 4 + random(6) }, () => 'aeinst'[random(6)]).join('');
  const stems = Array.from({ length: 30 }, word);
  const typo = (from: string): string => {
    const place = random(from.length - 1);
    const [before, rest] = [from.slice(0, place), from.slice(place)];
    const kinds = [
      `${before}${rest.slice(1)}`,
      `${before}o${rest}`,
      `${before}o${rest.slice(1)}`,
      `${before}${rest[1]}${rest[0]}${rest.slice(2)}`,
    ];
    return kinds[random(kinds.length)] ?? from;
  };
  await admin.post('/api/v1/collections', {
    name: 'notes',
    type: 'base',
    fields: [text('title'), text('owner'), { name: 'public', type: 'bool' }],
    list_rule: 'public = true || owner = @request.auth.id',
  });
  for (let n = 0; n < 120; n += 1) {
    const own = stems[random(stems.length)] ?? '';
    const title = [own, typo(own), typo(typo(own))].join(' ');
    await admin.create('notes', { title, owner: random(3) === 0 ? user.id : 'another', public: random(3) === 0 });
  }
  await admin.post('/api/v1/admin/collections/notes/indexes', {
    name: 'words',
    type: 'search',
    fields: [{ field: 'title' }],
    prefix: false,
  });
  await untilReady(admin, 'notes');
  await eventually('the replica searches', async () => (await admin.get('/api/v1/notes?search=x')).status === 200);

  const callers: Readonly<Record<string, Client>> = { guest: target.guest, user, admin };
  for (const [name, client] of Object.entries(callers))
    await t.test(`${name}: corrections are what the visible records alone would give [search §2.6]`, async () => {
      for (const more of ['', `&filter=${encodeURIComponent('public = false')}`]) {
        const listed = await client.get(`/api/v1/notes?perPage=200${more}`);
        const titles = listAt(listed.json, 'data').map(({ title }) => String(title));
        const counts = new Map<string, number>();
        for (const title of titles)
          for (const one of new Set(title.split(' '))) counts.set(one, (counts.get(one) ?? 0) + 1);
        for (const asked of [...stems, ...stems.map(typo), ...stems.map((one) => typo(typo(one)))]) {
          const most = asked.length < 4 ? -1 : asked.length < 8 ? 1 : 2;
          const expected = [...counts]
            .filter(([one]) => one.length >= 3 && distance(asked, one) <= most)
            .sort(([a, x], [b, y]) => distance(asked, a) - distance(asked, b) || y - x || (a < b ? -1 : 1))
            .slice(0, 3)
            .map(([one]) => one);
          const answer = await search(client, 'notes', asked, more);
          const isFound = counts.has(asked);
          const corrected = isFound || expected.length === 0 ? undefined : { [asked]: expected };
          assert.deepEqual(answer.corrected, corrected, `${asked}${more}`);
          const found = isFound ? [asked] : expected;
          const total = titles.filter((title) => title.split(' ').some((one) => found.includes(one))).length;
          assert.equal(numberAt(answer, 'totalItems'), total, asked);
        }
      }
    });
});
