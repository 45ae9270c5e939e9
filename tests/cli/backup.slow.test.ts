import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import pg from 'pg';
import { runCli } from '../harness/cli.ts';
import { type Client, createClient } from '../harness/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, listAt, numberAt, objectAt, textAt } from '../harness/json.ts';
import { file, multipart } from '../harness/multipart.ts';
import { startReceiver } from '../harness/receiver.ts';
import { createGround, environmentOf, type Ground, startStack } from '../harness/stack.ts';
import { stopCli } from '../harness/stop-cli.ts';

/** Leaves the secret to its file, which is part of a backup. */
const variablesOf = (ground: Ground) => ({
  ...environmentOf(ground),
  SERVICE_JWT_SECRET: '',
  SERVICE_ENCRYPTION_KEY: 'k',
});

const perPage = 1000;
const listAll = async (client: Client, collection: string) =>
  listAt((await client.get(`/api/v1/${collection}?perPage=${perPage}`)).json, 'data');

/** Returns the definitions of all collections, which are equal in both deployments. */
const definitionsOf = async (client: Client): Promise<unknown> =>
  at((await client.get('/api/v1/admin/migrations/snapshot')).json, 'data.collections');

suite('backup and restore at the command line', async () => {
  const tidying = new AsyncDisposableStack();
  after(() => tidying.disposeAsync());
  const ground = tidying.use(await createGround());
  const receiver = tidying.use(await startReceiver());
  const stack = await startStack({ topology: 'one', ground, environment: variablesOf(ground) });
  tidying.defer(() => stack.stop());
  const admin = await stack.admin();
  const token = textAt(
    await stack.guest.post(
      '/api/v1/admin/login',
      { email: 'ada@example.com', password: 'correct horse battery staple' },
      200,
    ),
    'token',
  );
  const archive = (name: string): string => join(ground.dataDirectory, name);
  const backup = (name: string) =>
    runCli(['backup', 'create', archive(name), '--json'], { environment: variablesOf(ground) });
  const restore = (name: string, into: Ground, ...flags: string[]) =>
    runCli(['backup', 'restore', archive(name), '--json', ...flags], { environment: variablesOf(into) });

  await admin.patch('/api/v1/admin/settings', { 'hooks.http.allow': '127.0.0.0/8', 'metrics.token': 'sealed' });
  const define = (body: object) => admin.post('/api/v1/collections', body);
  await define({ name: 'authors', type: 'auth', fields: [{ name: 'nick', type: 'text' }] });
  await define({
    name: 'posts',
    type: 'base',
    history_enabled: true,
    fields: [
      { name: 'worker', type: 'number' },
      { name: 'n', type: 'number' },
      { name: 'title', type: 'text', options: { unique: true } },
      { name: 'author', type: 'relation', collection: 'authors' },
      { name: 'at', type: 'autodate', onCreate: true },
    ],
  });
  await admin.post('/api/v1/admin/collections/posts/indexes', {
    name: 'by_worker',
    columns: ['worker', 'n'],
    unique: true,
  });
  await define({
    name: 'papers',
    type: 'base',
    fields: [
      { name: 'worker', type: 'number' },
      { name: 'n', type: 'number' },
      { name: 'scan', type: 'file' },
    ],
  });
  await define({ name: 'firsts', type: 'view', view_query: 'select p.id, p.title from posts p where p.n = 0' });
  await define({ name: 'first_titles', type: 'view', view_query: 'select f.id, f.title from firsts f' });
  await admin.post('/api/v1/admin/webhooks', { name: 'all', url: receiver.url, events: ['posts.*'] });

  await test('a backup made during writes of records and files is consistent', async () => {
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
        // Every other record is deleted at once, with its file.
        if (n % 2 === 1) await admin.delete(`/api/v1/papers/${textAt(answer.json, 'data.id')}`);
        written += 1;
      }
    });
    await eventually('the burst is under way', () => written > 20);
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
      assert.deepEqual(numbers, [...numbers.keys()], 'the writes of a worker are there up to one moment, without gaps');
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
  });

  await test('a restored deployment equals the original, works, and sends no event again', async () => {
    await using copy = await createGround();
    await eventually('every event is delivered', async () => {
      const total = numberAt((await admin.get('/api/v1/posts?perPage=1')).json, 'totalItems');
      return receiver.deliveries.length >= total;
    });
    const author = await admin.create('authors', { email: 'bo@example.com', password: 'a long and winding password' });
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
      ['update', 'create'],
    );
    await client.create('posts', { worker: 9, n: 0, title: 'after the restore' });
    const total = await client.get('/api/v1/posts?perPage=1');
    assert.equal(at(total.json, 'totalItems'), before.posts.length + 1);
    const deliveries = await receiver.received(sent + 2);
    assert.deepEqual(
      deliveries
        .slice(sent)
        .map(({ json }) => json.event)
        .sort(),
      ['posts.create', 'posts.update'],
    );
    const log = await client.get('/api/v1/admin/audit?action=backups.restore');
    assert.equal(listAt(log.json, 'data').length, 1);
    const found = await runCli(['doctor', '--json'], { environment: variablesOf(copy) });
    assert.equal(found.code, 0, found.stdout);
  });

  await test('restore refuses non-empty or running deployments and damaged, truncated or newer archives, and changes nothing', async () => {
    await using copy = await createGround();
    const bytes = readFileSync(archive('quiet.tar.gz'));
    writeFileSync(
      archive('flipped.tar.gz'),
      bytes.with(Math.floor(bytes.length / 2), 255 - (bytes[Math.floor(bytes.length / 2)] ?? 0)),
    );
    writeFileSync(archive('cut.tar.gz'), bytes);
    truncateSync(archive('cut.tar.gz'), bytes.length - 2000);
    writeFileSync(archive('other.tar.gz'), 'no archive at all');
    const database = new pg.Client({ connectionString: ground.databaseUrl });
    await database.connect();
    await database.query("insert into system.kysely_migration values ('9999-from-the-future', '')");
    const newer = await backup('newer.tar.gz');
    await database.query("delete from system.kysely_migration where name like '9999%'");
    await database.end();
    assert.equal(newer.code, 0, newer.stderr);

    const refusals = [
      ['flipped.tar.gz', /damaged|incomplete/],
      ['cut.tar.gz', /damaged|incomplete/],
      ['other.tar.gz', /damaged|not a backup/],
      ['newer.tar.gz', /newer version/],
      ['none.tar.gz', /does not exist/],
    ] as const;
    await Promise.all(
      refusals.map(async ([name, words]) => {
        const refused = await restore(name, copy);
        assert.match(refused.stderr, words, name);
        assert.equal(refused.code, 1, name);
      }),
    );
    assert.deepEqual(readdirSync(copy.dataDirectory), []);
    const inUse = await restore('quiet.tar.gz', ground, '--force');
    assert.match(inUse.stderr, /Services are running on this database \(local\)/);

    assert.equal((await restore('quiet.tar.gz', copy)).code, 0);
    const again = await restore('quiet.tar.gz', copy);
    assert.match(again.stderr, /holds uploaded files and a secret file/);
    const forced = await restore('burst.tar.gz', copy, '--force');
    assert.equal(forced.code, 0, forced.stderr);
    assert.deepEqual(readdirSync(copy.dataDirectory).sort(), ['jwt_secret', 'uploads']);
  });

  await test('a backup that is stopped or killed leaves no archive, a restore changes nothing, and both can be run again', async () => {
    await using copy = await createGround();
    assert.equal((await restore('quiet.tar.gz', copy)).code, 0);

    const heldIn = (place: Ground) => ({
      databaseUrl: place.databaseUrl,
      table: 'records.posts',
      environment: variablesOf(place),
    });
    const create = (signal: NodeJS.Signals) =>
      stopCli(['backup', 'create', archive('stopped.tar.gz')], { signal, ...heldIn(ground) });
    const replace = (signal: NodeJS.Signals) =>
      stopCli(['backup', 'restore', archive('burst.tar.gz'), '--force'], { signal, ...heldIn(copy) });
    const leftBehind = () => readdirSync(ground.dataDirectory).filter((name) => name.startsWith('stopped'));

    assert.deepEqual(await create('SIGINT'), [130, 'SIGINT stopped backup create before it was done.']);
    assert.deepEqual(leftBehind(), []);
    assert.deepEqual(await create('SIGKILL'), [null, '']);
    assert.deepEqual(leftBehind(), ['stopped.tar.gz.part']);
    assert.equal((await backup('stopped.tar.gz')).code, 0);
    assert.deepEqual(leftBehind(), ['stopped.tar.gz']);

    assert.deepEqual(await replace('SIGTERM'), [143, 'SIGTERM stopped backup restore before it was done.']);
    assert.deepEqual(readdirSync(copy.dataDirectory).sort(), ['jwt_secret', 'uploads']);
    assert.deepEqual(await replace('SIGKILL'), [null, '']);
    const rowsOf = async ({ databaseUrl }: Ground): Promise<number> => {
      const database = new pg.Client({ connectionString: databaseUrl });
      await database.connect();
      const { rows } = await database.query('select count(*)::int as count from records.papers');
      await database.end();
      return rows[0]?.count;
    };
    assert.equal(await rowsOf(copy), await rowsOf(ground));
    const again = await restore('stopped.tar.gz', copy, '--force');
    assert.equal(again.code, 0, again.stderr);
    assert.deepEqual(readdirSync(copy.dataDirectory).sort(), ['jwt_secret', 'uploads']);
  });

  await test('a directory that cannot be written is named', async () => {
    const file = join(archive('none'), 'backup.tar.gz');
    const { code, stderr } = await runCli(['backup', 'create', file], { environment: variablesOf(ground) });
    assert.equal(code, 1);
    assert.match(stderr, /backup\.tar\.gz cannot be written: ENOENT/);
  });

  await test('a full disk is reported and leaves no file', { skip: !existsSync('/dev/full') }, async () => {
    symlinkSync('/dev/full', archive('full.tar.gz.part'));
    const { code, stderr } = await backup('full.tar.gz');
    assert.equal(code, 1);
    assert.match(stderr, /full\.tar\.gz cannot be written: ENOSPC/);
    assert.deepEqual(
      readdirSync(ground.dataDirectory).filter((name) => name.startsWith('full')),
      [],
    );
  });

  await test('--no-secret leaves the secret out, and - writes to standard output', async () => {
    const { code, stdout } = await runCli(['backup', 'create', '-', '--no-secret'], {
      environment: variablesOf(ground),
    });
    assert.equal(code, 0);
    assert.ok(stdout.length > 1000);
  });
});
