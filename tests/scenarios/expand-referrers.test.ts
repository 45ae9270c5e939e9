import assert from 'node:assert/strict';
import { at, type JsonObject, listAt, objectAt, textAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { clientOf, createUsers, signUp } from './users.ts';

const spec = 'records §10.5';
const encoded = encodeURIComponent;

onEachTopology('expand shows the records that refer to a record', async (t, target) => {
  const admin = await target.admin();
  const users = await createUsers(target);
  const session = await signUp(target, users, 'ada@example.com');
  const userId = textAt(session, 'record.id');
  const user = clientOf(target, session);
  const relation = (name: string, collection: string, more: object = {}) => ({
    name,
    type: 'relation',
    collection,
    ...more,
  });
  await admin.define('authors', [{ name: 'name', type: 'text' }]);
  await admin.define('posts', [{ name: 'title', type: 'text' }, relation('author', 'authors')]);
  await admin.define(
    'comments',
    [
      relation('post', 'posts'),
      relation('posts', 'posts', { options: { multiple: true } }),
      relation('author', 'authors'),
      relation('secretly', 'posts', { view_rule: '' }),
      relation('mine', 'posts', { view_rule: 'owner = @request.auth.id' }),
      { name: 'n', type: 'number' },
      { name: 'text', type: 'text' },
      { name: 'secret', type: 'text', options: { encrypted: true } },
      { name: 'owner', type: 'text' },
    ],
    { view_rule: 'text != "hidden" || owner = @request.auth.id' },
  );
  await admin.define('closed', [relation('post', 'posts')], { view_rule: '' });
  await admin.define('private', [relation('post', 'posts')], { view_rule: 'post.title = @request.auth.id' });
  const ada = await admin.create('authors', { name: 'Ada' });
  const post = await admin.create('posts', { title: 'first', author: ada.id });
  const other = await admin.create('posts', { title: 'second', author: ada.id });
  const comments: JsonObject[] = [];
  for (let n = 1; n <= 7; n += 1)
    comments.push(
      await admin.create('comments', {
        post: post.id,
        posts: n <= 2 ? [other.id, post.id] : [],
        secretly: post.id,
        mine: n === 1 ? post.id : null,
        author: ada.id,
        n,
        text: n === 7 ? 'hidden' : `a, (b) "${n}"`,
        secret: `s${n}`,
        owner: n === 1 ? userId : 'x',
      }),
    );
  await admin.create('closed', { post: post.id });
  const one = `/api/v1/posts/${post.id}`;
  const expandOf = async (expand: string, client = target.guest, path = one, more = '') => {
    const answer = await client.get(`${path}?expand=${encoded(expand)}${more}`);
    assert.equal(answer.status, 200, answer.text);
    return objectAt(answer.json, 'data.expand');
  };
  const numbers = (records: unknown) => (records as readonly JsonObject[]).map(({ n }) => n);

  await t.test('the viewable records come newest first [records §10.5]', async () => {
    assert.deepEqual(numbers((await expandOf('comments_via_post')).comments_via_post), [6, 5, 4, 3, 2, 1]);
    assert.deepEqual(numbers((await expandOf('comments_via_post', admin)).comments_via_post), [7, 6, 5, 4, 3, 2, 1]);
    assert.deepEqual(await expandOf('comments_via_post', target.guest, `/api/v1/posts/${other.id}`), {
      comments_via_post: [],
    });
    const [first] = listAt(await expandOf('comments_via_post(limit:1)'), 'comments_via_post');
    assert.equal(at(first, 'secret'), 's6', 'decrypted');
    assert.ok(!('secretly' in (first as object)) && !('mine' in (first as object)), 'rules of fields');
  });

  await t.test('limit, sort and filter [records §10.5]', async () => {
    const list = async (options: string) =>
      numbers((await expandOf(`comments_via_post(${options})`)).comments_via_post);
    assert.deepEqual(await list('limit:2'), [6, 5]);
    assert.deepEqual(await list('sort:n,limit:3'), [1, 2, 3]);
    assert.deepEqual(await list('sort:-author.name,n, limit: 3'), [1, 2, 3]);
    assert.deepEqual(await list('filter:n > 4 || n = 1,sort:n'), [1, 5, 6]);
    assert.deepEqual(await list('filter:text in ("a, (b) \\"2\\"", \'x)\'),sort:n'), [2]);
    assert.deepEqual(await list('filter:post.title = "first" && not (n < 6) // ), a comment\n'), [6]);
    assert.deepEqual(await list('filter:text = "hidden"'), [], 'under the view rule');
  });

  await t.test('a total [records §10.5]', async () => {
    const shown = await expandOf('comments_via_post(limit:2,sort:n,total:1)');
    assert.deepEqual(numbers(at(shown, 'comments_via_post.items')), [1, 2]);
    assert.equal(at(shown, 'comments_via_post.total'), 6);
    assert.equal(at(listAt(shown, 'comments_via_post.items')[0], 'secret'), 's1', 'decrypted');
    const filtered = await expandOf('comments_via_post(filter:n>4,total:1)', admin);
    assert.equal(at(filtered, 'comments_via_post.total'), 3);
    const none = await expandOf('comments_via_post(total:1)', target.guest, `/api/v1/posts/${other.id}`);
    assert.deepEqual(none, { comments_via_post: { items: [], total: 0 } });
  });

  await t.test('paths continue after them, and lead to them [records §10.5]', async () => {
    const shown = await expandOf(
      'comments_via_post(limit:1,total:1).author,author.posts_via_author(sort:title).comments_via_post(limit:1)',
    );
    const [comment] = listAt(shown, 'comments_via_post.items');
    assert.equal(at(comment, 'expand.author.name'), 'Ada');
    const posts = listAt(shown, 'author.expand.posts_via_author');
    assert.deepEqual(
      posts.map((record) => at(record, 'title')),
      ['first', 'second'],
    );
    assert.deepEqual(
      posts.map((record) => listAt(record, 'expand.comments_via_post').length),
      [1, 0],
    );
    const list = await target.guest.get(`/api/v1/posts?sort=title&expand=${encoded('comments_via_post(limit:2)')}`);
    assert.deepEqual(
      listAt(list.json, 'data').map((record) => listAt(record, 'expand.comments_via_post').length),
      [2, 0],
    );
  });

  await t.test(
    'relations to several records, and relations that the caller sees in some records [records §10.5]',
    async () => {
      assert.deepEqual(numbers((await expandOf('comments_via_posts')).comments_via_posts), [2, 1]);
      assert.deepEqual(numbers((await expandOf('comments_via_mine', user)).comments_via_mine), [1]);
      assert.deepEqual(numbers((await expandOf('comments_via_mine', admin)).comments_via_mine), [1]);
      const stranger = clientOf(target, await signUp(target, users, 'bo@example.com'));
      assert.deepEqual((await expandOf('comments_via_mine', stranger)).comments_via_mine, []);
      assert.deepEqual(numbers((await expandOf('comments_via_secretly', admin)).comments_via_secretly).length, 7);
    },
  );

  await t.test('`fields` selects their members [records §11.2]', async () => {
    for (const options of ['limit:1', 'limit:1,total:1']) {
      const shown = await expandOf(
        `comments_via_post(${options})`,
        target.guest,
        one,
        '&fields=expand.comments_via_post.n',
      );
      const [comment] = listAt(shown, options.includes('total') ? 'comments_via_post.items' : 'comments_via_post');
      assert.deepEqual(Object.keys(comment as object), ['id', 'n']);
    }
  });

  await t.test('a hidden collection or relation is like a name that does not exist [records §10.5]', async () => {
    const refusalOf = async (name: string) => {
      const { status, text } = await target.guest.get(`${one}?expand=${name}`);
      return [status, text.replaceAll(name, 'X')];
    };
    const missing = await refusalOf('nothing_via_post');
    for (const name of ['closed_via_post', 'private_via_post', 'comments_via_secretly', 'comments_via_mine'])
      assert.deepEqual(await refusalOf(name), missing, name);
    const filter = async (name: string) => {
      const { status, text } = await user.get(`${one}?expand=${encoded(`comments_via_post(filter:${name} != "")`)}`);
      return [status, text.replaceAll(name, 'X')];
    };
    assert.deepEqual(await filter('secretly'), await filter('nothing'));
  });

  const row = (name: string, expand: string, more = ''): Scenario => ({
    name,
    request: `GET ${one}?expand=${encoded(expand)}${more}`,
    expect: refused.malformedWith({ expand: is.text }),
    spec,
  });
  await runScenarios(t, target, [
    row('a limit of 0', 'comments_via_post(limit:0)'),
    row('a limit of 1,001', 'comments_via_post(limit:1001)'),
    row('a limit that is not a number', 'comments_via_post(limit:1e2)'),
    row('another total', 'comments_via_post(total:2)'),
    row('an unknown option', 'comments_via_post(page:2)'),
    row('an option twice', 'comments_via_post(limit:1,limit:2)'),
    row('options of a relation', 'author(limit:1)'),
    row('options that differ', 'comments_via_post(limit:1),comments_via_post(limit:2).author'),
    row('a filter that does not parse', 'comments_via_post(filter:n >)'),
    row('a sort by no field', 'comments_via_post(sort:nothing)'),
    row('a filter of records that fields leaves out', 'comments_via_post(filter:n >)', '&fields=title'),
    row('a sort of records that fields leaves out', 'comments_via_post(sort:nothing)', '&fields=expand.author'),
    row('a filter with a value of the request', 'comments_via_post(filter:owner = @request.auth.id)'),
    row('a missing parenthesis', 'comments_via_post(limit:1'),
    row('a parenthesis too many', 'comments_via_post(limit:1))'),
    row('a text behind the options', 'comments_via_post(limit:1)x'),
    row('seven names', 'author.posts_via_author.author.posts_via_author.author.posts_via_author.author'),
  ]);
});
