import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createClient } from '../../harness/clients/client.ts';
import { file, multipart } from '../../harness/clients/multipart.ts';
import { eventually } from '../../harness/eventually.ts';
import { at, listAt, numberAt, objectAt, textAt } from '../../harness/json.ts';
import { runCli } from '../../harness/processes/cli.ts';
import { createGround, startStack } from '../../harness/stacks/stack.ts';
import { type Deployment, definitionsOf, listAll, perPage, variablesOf } from './deployment.ts';

/** What a backup holds, and how a restored deployment behaves. */
export async function restoredDeployments(t: TestContext, deployment: Deployment): Promise<void> {
  const { ground, receiver, admin, token, archive, backup, restore } = deployment;

  await t.test('a backup made while records and files are written is consistent', async () => {
    await using copy = await createGround();
    const contentOf = (worker: number, n: number): string => `scan ${worker} ${n} `.repeat(200);
    let isOver = false;
    let written = 0;
    const workers = [0, 1, 2, 3].map(async (worker) => {
      for (let n = 0; !isOver; n += 1) {
        await admin.create('posts', { worker, n, title: `${worker}/${n}` });
        const parts = [
          { name: 'worker', content: String(worker) },
          { name: 'n', content: String(n) },
          file('scan', 'a.txt', contentOf(worker, n)),
        ];
        const answer = await admin.send('POST', '/api/v1/papers', multipart(...parts));
        assert.equal(answer.status, 201, answer.text);
        // Every second record is deleted immediately, with its file.
        if (n % 2 === 1) await admin.delete(`/api/v1/papers/${textAt(answer.json, 'data.id')}`);
        written += 1;
      }
    });
    await eventually('the burst has begun', () => written > 20);
    const made = await backup('burst.tar.gz');
    isOver = true;
    await Promise.all(workers);
    assert.equal(made.code, 0, made.stderr);
    assert.deepEqual(at(made.json, 'missing_files'), []);
    assert.equal(statSync(archive('burst.tar.gz')).mode & 0o777, 0o600);

    const restored = await restore('burst.tar.gz', copy);
    assert.equal(restored.code, 0, restored.stderr);
    await using second = await startStack({ topology: 'one', ground: copy, environment: variablesOf(copy) });
    const client = createClient(second.url, token);
    const posts = await listAll(client, 'posts');
    const papers = await listAll(client, 'papers');
    assert.ok(posts.length >= 20 && posts.length < perPage, `${posts.length} posts`);
    for (const worker of [0, 1, 2, 3]) {
      const numbers = posts
        .filter((post) => post.worker === worker)
        .map((post) => numberAt(post, 'n'))
        .sort((a, b) => a - b);
      assert.deepEqual(numbers, [...numbers.keys()], 'all writes of a worker up to one moment are restored');
      const last = numbers.length - 1;
      const scans = papers.filter((paper) => paper.worker === worker).map((paper) => numberAt(paper, 'n'));
      for (let n = 0; n < last; n += 2)
        assert.ok(scans.includes(n), `paper ${n} was written between posts ${n} and ${n + 1}`);
      assert.ok(
        scans.every((n) => n <= last),
        'each paper has the post before it',
      );
    }
    for (const paper of papers) {
      const { text, status } = await client.get(`/api/files/papers/${textAt(paper, 'id')}/${textAt(paper, 'scan')}`);
      assert.equal(status, 200);
      assert.equal(text, contentOf(numberAt(paper, 'worker'), numberAt(paper, 'n')));
    }
    const total = await client.get('/api/v1/posts?perPage=1');
    assert.equal(at(total.json, 'totalItems'), posts.length);
    const words = posts
      .map(({ title }) => `"${title}"`)
      .slice(0, 8)
      .join(' or ');
    const found = await client.get(`/api/v1/posts?search=${encodeURIComponent(words)}`);
    assert.equal(at(found.json, 'totalItems'), Math.min(posts.length, 8), 'the search index is restored');
    await client.create('posts', { title: 'written later' });
    assert.equal(at((await client.get('/api/v1/posts?search=later')).json, 'totalItems'), 1, 'and kept');
  });

  await t.test('a restored deployment equals the original, works, and sends no event twice', async () => {
    await using copy = await createGround();
    const author = await admin.create('authors', { email: 'bo@example.com', password: 'a long and winding password' });
    const [shared] = await listAll(admin, 'posts');
    await admin.patch(`/api/v1/posts/${textAt(shared, 'id')}`, { readers: [author.id] });
    await eventually('every event is delivered', async () => {
      const total = numberAt((await admin.get('/api/v1/posts?perPage=1')).json, 'totalItems');
      return receiver.deliveries.length > total;
    });
    const made = await backup('quiet.tar.gz');
    assert.equal(made.code, 0, made.stderr);
    const before = { definitions: await definitionsOf(admin), posts: await listAll(admin, 'posts') };
    const sent = receiver.deliveries.length;

    const restored = await restore('quiet.tar.gz', copy);
    assert.equal(restored.code, 0, restored.stderr);
    assert.equal(
      readFileSync(join(copy.dataDirectory, 'jwt_secret'), 'utf8'),
      readFileSync(join(ground.dataDirectory, 'jwt_secret'), 'utf8'),
    );
    await using second = await startStack({ topology: 'one', ground: copy, environment: variablesOf(copy) });
    const client = createClient(second.url, token);
    assert.deepEqual(await definitionsOf(client), before.definitions);
    assert.deepEqual(await listAll(client, 'posts'), before.posts);
    assert.equal((await listAll(client, 'first_titles')).length, 4);
    assert.equal(objectAt((await client.get('/api/v1/admin/settings')).json, 'data')['metrics.token'], 'sealed');

    // Constraints, sequences, history and events work.
    const id = textAt(before.posts[0], 'id');
    assert.equal(
      (
        await client.send('POST', '/api/v1/posts', {
          body: { worker: 9, n: 9, title: textAt(before.posts[0], 'title') },
        })
      ).status,
      422,
    );
    await client.patch(`/api/v1/posts/${id}`, { author: author.id });
    const history = await client.get(`/api/v1/posts/${id}/history`);
    assert.deepEqual(
      listAt(history.json, 'data.data').map(({ op }) => op),
      ['update', 'update', 'create'],
    );
    const reader = await client.create('authors', { email: 'al@example.com', password: 'a long and winding password' });
    await client.patch(`/api/v1/posts/${id}`, { readers: [reader.id, author.id] });
    await client.delete(`/api/v1/authors/${reader.id}`);
    assert.deepEqual(at((await client.get(`/api/v1/posts/${id}`)).json, 'data.readers'), [author.id]);
    await client.create('posts', { worker: 9, n: 0, title: 'after the restore' });
    const total = await client.get('/api/v1/posts?perPage=1');
    assert.equal(at(total.json, 'totalItems'), before.posts.length + 1);
    const deliveries = await receiver.received(sent + 4);
    assert.deepEqual(
      deliveries
        .slice(sent)
        .map(({ json }) => json.event)
        .sort(),
      ['posts.create', 'posts.update', 'posts.update', 'posts.update'],
    );
    const log = await client.get('/api/v1/admin/audit?action=backups.restore');
    assert.equal(listAt(log.json, 'data').length, 1);
    const found = await runCli(['doctor', '--json'], { environment: variablesOf(copy) });
    assert.equal(found.code, 0, found.stdout);
  });
}
