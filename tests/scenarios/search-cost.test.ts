import assert from 'node:assert/strict';
import { eventually } from '../harness/eventually.ts';
import { at } from '../harness/json.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { untilReady } from './search-ready.ts';

const recordCount = 60;

/** All words of two syllables: each is near many others. */
const syllables = ['ba', 'ce', 'di', 'fo', 'gu', 'la', 'me', 'ni', 'po', 'ru'];
const nearWords = syllables.flatMap((a) => syllables.flatMap((b) => syllables.map((c) => `${a}${b}${c}`)));

onEachTopology('dear searches', async (t, target) => {
  const admin = await target.admin();
  const user = await target.user();
  const texts = ['title', 'body', 'status', 'owner'].map((name) => ({ name, type: 'text' }));
  for (const name of ['tomes', 'scrolls']) {
    await admin.post('/api/v1/collections', {
      name,
      type: 'base',
      fields: texts,
      list_rule: 'owner != "nobody" && title !~ "unseen"',
      view_rule: null,
      create_rule: null,
    });
    for (let n = 0; n < recordCount; n += 1)
      await admin.create(name, {
        title: `everywhere ${nearWords[n]}`,
        body: `everywhere ${nearWords.slice(n).join(' ')}`,
        status: `state ${n}`,
        owner: String(n % 7),
      });
    const fields = [{ field: 'title', weight: 'A' }, { field: 'body' }, { field: 'status' }];
    await admin.post(`/api/v1/admin/collections/${name}/indexes`, { name: 'words', type: 'search', fields });
    await untilReady(admin, name);
    await eventually(
      'every replica searches',
      async () => (await admin.get(`/api/v1/${name}?search=x`)).status === 200,
    );
  }
  const list = (search: string, more = '') =>
    target.guest.get(`/api/v1/tomes?search=${encodeURIComponent(search)}${more}`);
  const typos = nearWords.slice(0, 10).map((word) => `${word.slice(0, 4)}x${word.slice(5)}`);
  const all = '&perPage=200&facets=title,status,owner&highlight=title,body,status';

  const dear: Readonly<Record<string, () => ReturnType<typeof list>>> = {
    'a thousand words': () => list(Array.from({ length: 1000 }, (_, n) => `w${n}`).join(' ')),
    'more words than allowed': () => list('a b c d e f g h i j k'),
    'prefixes with a letter': () => list('b c d e f g l m n p', '&searchMode=any'),
    'a prefix that all have': () => list('ev', all),
    'words that all have': () => list('everywhere or everywhere bacedi or everywhere', all),
    'typos of each word': () => list(typos.join(' '), '&searchMode=any'),
    'typos under a filter': () => list(typos.join(' or '), `&filter=${encodeURIComponent('owner ~ "1"')}`),
    'facets with every value': () => list('the everywhere', `&searchMode=any${all}`),
    'unwanted words only': () =>
      list(
        nearWords
          .slice(0, 10)
          .map((word) => `-${word}`)
          .join(' '),
        all,
      ),
    'fields whose words are read again': () => list('everywhere', `&searchFields=body${all}&sort=-status`),
    'several collections': () =>
      target.guest.send('POST', '/api/v1/search', {
        body: {
          queries: Array.from({ length: 10 }, (_, n) => ({
            collection: n % 2 ? 'tomes' : 'scrolls',
            search: typos.slice(n).join(' '),
            searchMode: 'any',
            facets: ['title', 'status'],
          })),
        },
      }),
  };

  await t.test('each is answered or refused, and others go on meanwhile [search §2.7]', async () => {
    const searches = Object.entries(dear).map(async ([name, search]) => ({ name, answer: await search() }));
    const others = Array.from({ length: 10 }, async (_, n) => {
      const title = `other ${n}`;
      const { id } = await user.create('tomes', { title, owner: 'other' });
      const read = await user.get(`/api/v1/tomes/${id}`);
      assert.equal(at(read.json, 'data.title'), title, read.text);
    });
    await Promise.all(others);
    for (const { name, answer } of await Promise.all(searches)) {
      assert.ok([200, 400, 422, 429].includes(answer.status), `${name}: ${answer.status} ${answer.text}`);
      if (answer.status === 200) assert.ok(Array.isArray(at(answer.json, 'data')), name);
      else assert.equal(typeof at(answer.json, 'code'), 'string', `${name}: ${answer.text}`);
    }
  });

  await t.test('too many words are refused before anything is read [search §2.5]', async () => {
    for (const name of ['a thousand words', 'more words than allowed']) {
      const answer = await dear[name]?.();
      assert.equal(answer?.status, 400, name);
      assert.match(String(at(answer?.json, 'error')), /at most/, name);
    }
  });
});
