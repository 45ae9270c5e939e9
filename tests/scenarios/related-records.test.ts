import assert from 'node:assert/strict';
import type { Client } from '../harness/clients/client.ts';
import { openLive } from '../harness/clients/live-client.ts';
import { at, listAt, textAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { userCollection } from '../harness/stacks/stack.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { make, text } from './collection-changes.ts';

const relation = (name: string, collection: string) => ({ name, type: 'relation', collection });
const number = (name: string) => ({ name, type: 'number' });

/** A filter, or a sort after `sort=`, and the titles that it finds in order. */
type Found = readonly [shape: string, titles: string];

const shapeOf = (text: string): string => {
  const [name, value] = /^(sort)=(.*)$/.exec(text)?.slice(1) ?? ['filter', text];
  return `${name}=${encodeURIComponent(String(value))}${name === 'sort' ? '' : '&sort=title'}`;
};

async function titlesOf(client: Client, collection: string, shape: string): Promise<string> {
  const { status, json, text: body } = await client.get(`/api/v1/${collection}?${shapeOf(shape)}`);
  assert.equal(status, 200, body);
  return listAt(json, 'data')
    .map((record) => textAt(record, 'title'))
    .join(' ');
}

onEachTopology('filters and sorts reach related records', async (t, target) => {
  const admin = await target.admin();
  await make(admin, 'articles', [text('title'), number('rank'), { name: 'place', type: 'geoPoint' }]);
  await make(admin, 'remarks', [text('body'), number('stars'), relation('article', 'articles')]);
  const one = await admin.create('articles', { title: 'one', rank: 1, place: { lat: 48.2, lng: 16.37 } });
  const two = await admin.create('articles', { title: 'two', rank: 5, place: { lat: 47.07, lng: 15.44 } });
  await admin.create('articles', { title: 'zero' });
  await admin.create('remarks', { body: 'Good', stars: 5, article: one.id });
  await admin.create('remarks', { body: 'Bad', stars: 1, article: one.id });
  await admin.create('remarks', { body: 'Good', stars: 4, article: two.id });
  const rows: readonly Found[] = [
    ['remarks_via_article.body = "Good"', 'one two'],
    ['remarks_via_article.body != "Bad"', 'two zero'],
    ['all(remarks_via_article.stars > 3)', 'two zero'],
    ['none(remarks_via_article.stars > 4)', 'two zero'],
    ['count(remarks_via_article) > 1', 'one'],
    ['count(remarks_via_article) = 0', 'zero'],
    ['exists(remarks, article = record.id && stars < record.rank)', 'two'],
    ['not (rank > 1)', 'one zero'],
    ['title in (\'one\', "zero") // these', 'one zero'],
    ['title:length > 3', 'zero'],
    ['created > @now-1h && created <= @tomorrow', 'one two zero'],
    ['distance(place, 48.2, 16.4) < 10', 'one'],
    ['sort=-count(remarks_via_article),title', 'one two zero'],
    ['sort=distance(place, 47, 15.5)', 'two one zero'],
  ];
  for (const [shape, titles] of rows)
    await t.test(`${shape} finds ${titles} [filters §5.8, §7]`, async () =>
      assert.equal(await titlesOf(target.guest, 'articles', shape), titles),
    );
  const malformed = (shape: string): Scenario => ({
    name: shape,
    request: `GET /api/v1/articles?${shapeOf(shape)}`,
    expect: { status: 400, json: is.containing({ error: is.text, code: is.code }) },
    spec: 'filters §1.3',
  });
  await runScenarios(t, target, [
    malformed('remarks_via_title.body = "x"'),
    malformed('exists(remarks, nothing = 1)'),
    malformed('count(title) > 1'),
    malformed('all(rank)'),
    malformed('title in "x"'),
    malformed('sort=remarks_via_article.stars'),
    malformed('sort=distance(title, 1, 1)'),
    malformed(`${'exists(remarks, '.repeat(4)}stars = 1${')'.repeat(4)}`),
  ]);
});

onEachTopology('clients guess nothing about records that they may not view', async (t, target) => {
  const admin = await target.admin();
  const user = await target.user();
  const ownOnly = `owner = @request.auth.id`;
  await make(admin, 'books', [text('title')]);
  const fields = [text('word'), number('stars'), relation('book', 'books'), relation('owner', userCollection)];
  await make(admin, 'reviews', fields, { list_rule: null, view_rule: ownOnly });
  await make(admin, 'secrets', fields, { list_rule: null, view_rule: '' });
  await make(admin, 'loans', [text('title'), relation('review', 'reviews'), relation('secret', 'secrets')]);
  const book = await admin.create('books', { title: 'book' });
  const review = await admin.create('reviews', { word: 'hush', stars: 5, book: book.id });
  const mine = await admin.create('reviews', { word: 'mine', stars: 1, book: book.id, owner: user.id });
  const secret = await admin.create('secrets', { word: 'hush', stars: 5, book: book.id });
  await admin.create('loans', { title: 'a', review: review.id, secret: secret.id });
  await admin.create('loans', { title: 'b', review: mine.id });

  const seen: readonly (readonly ['books' | 'loans', string, string])[] = [
    ['books', 'reviews_via_book.word = "hush"', ''],
    ['books', 'reviews_via_book.word = "mine"', 'book'],
    ['books', 'reviews_via_book.word != "hush"', 'book'],
    ['books', 'all(reviews_via_book.stars = 1)', 'book'],
    ['books', 'count(reviews_via_book) = 1', 'book'],
    ['books', 'exists(reviews, book = record.id && stars = 5)', ''],
    ['books', `exists(books, exists(reviews, word = "hush"))`, ''],
    ['loans', 'review.word = "hush"', ''],
    ['loans', 'review.word = "mine"', 'b'],
    ['loans', 'review.stars = null', 'a'],
    ['loans', 'sort=review.stars', 'b a'],
  ];
  for (const [collection, shape, titles] of seen)
    await t.test(`a user: ${shape} finds ${titles || 'nothing'} [filters §7.3]`, async () => {
      assert.equal(await titlesOf(user, collection, shape), titles);
    });
  const guestSeen: typeof seen = [
    ['books', 'reviews_via_book.word = "mine"', ''],
    ['books', 'reviews_via_book.word != "hush"', 'book'],
    ['books', 'count(reviews_via_book) = 0', 'book'],
    ['books', 'exists(reviews, stars > 0)', ''],
    ['books', 'sort=count(reviews_via_book)', 'book'],
    ['loans', 'review.word ~ "h"', ''],
    ['loans', 'review.stars = null', 'a b'],
    ['loans', 'not (review.word = "mine")', 'a b'],
    ['loans', 'sort=review.stars,title', 'a b'],
    ['loans', 'sort=-review.stars,-title', 'b a'],
  ];
  for (const [collection, shape, titles] of guestSeen)
    await t.test(`a guest, who may view no review: ${shape} finds ${titles || 'nothing'} [filters §7.3]`, async () => {
      assert.equal(await titlesOf(target.guest, collection, shape), titles);
    });
  await t.test("a guest's aggregate and live filter see no review either [filters §7.3]", async () => {
    const { json } = await target.guest.get('/api/v1/loans/aggregate?count=1&sum=review.stars&group=review.word');
    assert.deepEqual(at(json, 'data'), [{ review_word: null, count: 2, sum_review_stars: null }]);
    await using live = await openLive(target.url, [
      { id: 'hidden', collection: 'loans', filter: 'review.stars > 0' },
      { id: 'rest', collection: 'loans', filter: 'none(review.stars > 0)' },
    ]);
    await live.arrived('ready');
    await admin.create('loans', { title: 'c', review: mine.id });
    const [created] = await live.arrived('create');
    assert.equal(created?.data.sub, 'rest');
    assert.equal((await target.guest.get('/api/v1/books?expand=reviews_via_book')).status, 400, 'expand stays');
  });

  await t.test('an admin sees every record [filters §1.2]', async () => {
    assert.equal(await titlesOf(admin, 'books', 'reviews_via_book.word = "hush"'), 'book');
    assert.equal(await titlesOf(admin, 'books', 'exists(secrets, word = "hush")'), 'book');
  });

  const messageOf = async (client: Client, request: string, nothing: string) => {
    const { status, json } = await client.get(`/api/v1/${request}`);
    assert.equal(status, 400, request);
    return textAt(json, 'error')
      .replaceAll(nothing, '…')
      .replace(/character \d+/, 'character');
  };
  const alike: readonly (readonly ['guest' | 'user', string, string])[] = [
    ['guest', 'books?filter=secrets_via_book.word="hush"', 'secrets_via_book'],
    ['guest', 'loans?sort=secret.stars', 'stars'],
    ['user', 'books?filter=secrets_via_book.word="hush"', 'secrets_via_book'],
    ['user', 'books?filter=exists(secrets,stars=5)', 'secrets'],
    ['user', 'loans?filter=secret.stars=1', 'stars'],
    ['user', 'loans?sort=secret.stars', 'stars'],
    ['user', 'loans/aggregate?group=secret.stars', 'stars'],
    ['user', 'loans?cursor=&sort=secret.stars', 'stars'],
  ];
  for (const [caller, request, name] of alike)
    await t.test(
      `a ${caller} cannot tell ${name} from a name that does not exist: ${request} [filters §7.3]`,
      async () => {
        const client = caller === 'user' ? user : target.guest;
        const made = 'zzz';
        assert.equal(
          await messageOf(client, request, name),
          await messageOf(client, request.replaceAll(name, made), made),
        );
      },
    );
});
