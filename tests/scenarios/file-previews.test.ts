import assert from 'node:assert/strict';
import { file } from '../harness/clients/multipart.ts';
import { pngOf } from '../harness/clients/png.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { fileField, upload } from './file-forms.ts';

const sizeOf = (png: Buffer) => `${png.readUInt32BE(16)}x${png.readUInt32BE(20)}`;

onEachTopology('images have previews with limited size', async (t, target) => {
  const admin = await target.admin();
  const thumbs = ['300x300', '300x300f', '0x20', '64x64'];
  await admin.define('photos', [fileField('photo', { thumbs })]);
  const make = async (content: Buffer) => {
    const record = await upload(target.guest, '/api/v1/photos', file('photo', 'a.png', content));
    return { id: String(record.id), path: `/api/files/photos/${record.id}/${record.photo}` };
  };
  const previewOf = async (path: string, size: string) => {
    const answer = await fetch(`${target.url}${path}?thumb=${size}`);
    const bytes = Buffer.from(await answer.arrayBuffer());
    return { status: answer.status, bytes, size: answer.status === 200 ? sizeOf(bytes) : undefined };
  };

  await t.test('a preview is never larger than its image [files §5.3]', async () => {
    const { path } = await make(pngOf(120, 40));
    const sizes = ['100x100', '300x300', '300x300f', '0x20'];
    const made = await Promise.all(sizes.map(async (size) => (await previewOf(path, size)).size));
    assert.deepEqual(made, ['100x40', '120x40', '120x40', '60x20']);
  });

  await t.test('parallel requests for one preview get the same image [files §5.4]', async () => {
    const { path } = await make(pngOf(500, 500));
    const answers = await Promise.all(Array.from({ length: 60 }, () => previewOf(path, '64x64')));
    assert.deepEqual(new Set(answers.map(({ status, size }) => `${status} ${size}`)), new Set(['200 64x64']));
  });

  await t.test('an image over the pixel limit is served unchanged [files §5.3]', async () => {
    const bomb = pngOf(8000, 7000);
    const { path } = await make(bomb);
    const answers = await Promise.all(Array.from({ length: 20 }, () => previewOf(path, '100x100')));
    assert.deepEqual(new Set(answers.map(({ bytes }) => bytes.length)), new Set([bomb.length]));
  });

  await t.test('sizes are checked when the field is defined [files §5.2]', async () => {
    for (const bad of ['100', '0x0', '5000x1', '1x1x1', '9'.repeat(100_000)]) {
      const body = { name: 'bad', type: 'base', fields: [fileField('f', { thumbs: [bad] })] };
      const answer = await admin.send('POST', '/api/v1/collections', { body });
      assert.deepEqual([answer.status, /options\.thumbs\.0/.test(answer.text)], [422, true], bad.slice(0, 20));
    }
  });
});
