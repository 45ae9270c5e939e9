import assert from 'node:assert/strict';
import { file } from '../harness/clients/multipart.ts';
import { pngOf } from '../harness/clients/png.ts';
import { eventually } from '../harness/eventually.ts';
import { textAt } from '../harness/json.ts';
import { listDescendants } from '../harness/processes/processes.ts';
import { onEachTopology, stackEnvironment, type Target } from '../harness/stacks/target.ts';
import { fileField, upload } from './file-forms.ts';

// Set at the start: an image with 3,000 × 2,000 pixels takes 18 MB decoded.
stackEnvironment.SERVICE_TRUSTED_PROXIES = '127.0.0.0/8, ::1';
stackEnvironment.SERVICE_PREVIEWS_MEMORY_MB = '20';

const from = (address: string) => ({ 'X-Forwarded-For': address });

async function makePhotos(target: Target) {
  const admin = await target.admin();
  await admin.define('photos', [fileField('photo')]);
  const put = async (image: Buffer) => {
    const record = await upload(target.guest, '/api/v1/photos', file('photo', 'a.png', image));
    return `/api/v1/files/photos/${record.id}/${record.photo}?thumb=100x100`;
  };
  const get = async (path: string, headers: Readonly<Record<string, string>> = {}) => {
    const answer = await fetch(target.url + path, { headers });
    const bytes = Buffer.from(await answer.arrayBuffer());
    return { status: answer.status, text: bytes.toString(), bytes: bytes.length };
  };
  return { admin, put, get };
}

/** The processes that this file's stacks run. */
const decoders = () => listDescendants(process.pid).filter(({ command }) => command.includes('previews/decoder.ts'));

onEachTopology('previews that cost much', async (t, target) => {
  const { put, get } = await makePhotos(target);
  const large = pngOf(3000, 2000);

  await t.test('a picture over the budget is 422, and is there without thumb [files §5.5]', async () => {
    const path = await put(pngOf(3000, 3000));
    const answers = await Promise.all([1, 2, 3].map(() => get(path)));
    for (const { status, text } of answers)
      assert.deepEqual([status, textAt(JSON.parse(text), 'code')], [422, 'picture_too_large']);
    assert.equal((await get(path.split('?')[0] ?? '')).status, 200);
  });

  await t.test("one client's five expensive pictures do not delay another's small one [files §5.5]", async () => {
    // Two processes run afterwards.
    const first = await Promise.all([large, large].map((image) => put(image)));
    await Promise.all(first.map((path, n) => get(path, from(`10.6.0.${n}`))));
    // On a busy machine the small one may arrive after all others are made.
    await eventually('the small one is not the last', async () => {
      const dear = await Promise.all([1, 2, 3, 4, 5].map(() => put(large)));
      const small = await put(pngOf(64, 64));
      const order: string[] = [];
      const ask = async (name: string, path: string, address: string) => {
        const { status } = await get(path, from(address));
        order.push(name);
        return status;
      };
      const all = dear.map((path) => ask('dear', path, '10.7.0.1'));
      all.push(ask('small', small, '10.7.0.2'));
      assert.deepEqual(await Promise.all(all), [200, 200, 200, 200, 200, 200]);
      return order.indexOf('small') < 5;
    });
  });

  await t.test('many addresses leave a place to users and admins [cost §3.2]', async () => {
    const admin = await target.admin();
    // On a busy machine the request of the admin may arrive after all others are answered.
    await eventually('the admin is answered before the crowd', async () => {
      const dear = await Promise.all(Array.from({ length: 12 }, () => put(large)));
      const path = await put(pngOf(64, 64));
      let answered = 0;
      const crowd = dear.map(async (one, n) => {
        const { status } = await get(one, from(`10.8.0.${n}`));
        answered += 1;
        return status;
      });
      const mine = await admin.send('GET', path);
      assert.equal(mine.status, 200);
      const isBefore = answered < dear.length;
      assert.deepEqual(new Set(await Promise.all(crowd)), new Set([200]));
      return isBefore;
    });
  });

  await t.test('if its process is killed, a preview is refused, and the next one works [files §5.5]', async (t) => {
    const running = decoders();
    if (running.length === 0) return t.skip('the services run on another machine');
    for (const { pid } of running) process.kill(pid, 'SIGKILL');
    const path = await put(large);
    assert.equal((await get(path)).status, 200, 'an idle process that died is replaced');

    let other = '';
    const kill = () => {
      for (const { pid } of decoders()) process.kill(pid, 'SIGKILL');
    };
    const refused = await eventually('a process dies before its preview is made', async () => {
      other = await put(large);
      const asked = get(other);
      const ending = setInterval(kill, 1);
      const { status } = await asked.finally(() => clearInterval(ending));
      return status !== 200 && status;
    });
    assert.ok([422, 503].includes(refused), String(refused));
    assert.equal((await get('/readyz')).status, 200);
    await eventually('a preview is made', async () => (await get(other)).status === 200);
  });
});
