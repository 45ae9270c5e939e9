import assert from 'node:assert/strict';
import { file } from '../harness/clients/multipart.ts';
import { textAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { eventuallyOnEveryReplica } from '../harness/stacks/every-replica.ts';
import { runScenarios } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { fileField, png, upload } from './file-forms.ts';

onEachTopology('a file is downloaded in whole, in part, or as a preview', async (t, target) => {
  const admin = await target.admin();
  await admin.define('docs', [fileField('doc', { thumbs: ['2x2'] })]);
  const make = async (filename: string, content: string | Uint8Array) => {
    const record = await upload(target.guest, '/api/v1/docs', file('doc', filename, content));
    return `/docs/${record.id}/${record.doc}`;
  };
  const plain = await make('a.txt', '0123456789');
  const page = await make('a.txt', '<!doctype html><script>alert(1)</script>');
  const picture = await make('a.svg', '<svg xmlns="http://www.w3.org/2000/svg"></svg>');
  const image = await make('a.png', png);
  const broken = await make('a.png', png.subarray(0, 40));
  const etag = (await target.guest.get(`/api/files${plain}`)).headers.etag ?? '';
  const get = (path: string, rest: object) => ({ spec: 'files §4', request: `GET ${path}`, ...rest });
  const bytes = (length: number) => ({ 'content-length': String(length) });
  await runScenarios(t, target, [
    {
      name: 'the whole file',
      ...get(`/api/files${plain}`, {}),
      expect: {
        status: 200,
        headers: {
          ...bytes(10),
          'content-type': 'text/plain; charset=utf-8',
          'x-content-type-options': 'nosniff',
          'accept-ranges': 'bytes',
          'content-disposition': 'inline; filename="a.txt"',
          'cache-control': is.matching(/^public/),
          etag,
        },
      },
    },
    { name: 'the path with v1', ...get(`/api/v1/files${plain}`, {}), expect: { status: 200, headers: bytes(10) } },
    {
      name: 'HEAD',
      spec: 'http §1.3',
      request: `HEAD /api/files${plain}`,
      expect: { status: 200, headers: { ...bytes(10), etag } },
    },
    ...(
      [
        ['bytes=2-4', 206, 'bytes 2-4/10', 3],
        ['bytes=-3', 206, 'bytes 7-9/10', 3],
        ['bytes=8-', 206, 'bytes 8-9/10', 2],
        ['bytes=10-', 416, 'bytes */10', undefined],
        ['lines=1-2', 200, null, 10],
        // Several ranges get the whole file. Numbers may have any length.
        [`bytes=${Array(3000).fill('0-9').join(',')}`, 200, null, 10],
        [`bytes=0-${'9'.repeat(20_000)}`, 206, 'bytes 0-9/10', 10],
        [`bytes=${'9'.repeat(20_000)}-`, 416, 'bytes */10', undefined],
        ['bytes=-0', 416, 'bytes */10', undefined],
      ] as const
    ).map(([range, status, contentRange, length]) => ({
      name: range.slice(0, 40),
      ...get(`/api/files${plain}`, { headers: { Range: range } }),
      expect: {
        status,
        headers: { 'content-range': contentRange, ...(length !== undefined && bytes(length)) },
      },
    })),
    {
      name: 'a range of this version',
      ...get(`/api/files${plain}`, { headers: { Range: 'bytes=0-0', 'If-Range': etag } }),
      expect: { status: 206 },
    },
    {
      name: 'a range of another version',
      ...get(`/api/files${plain}`, { headers: { Range: 'bytes=0-0', 'If-Range': '"other"' } }),
      expect: { status: 200 },
    },
    {
      name: 'the version that the client has',
      ...get(`/api/files${plain}`, { headers: { 'If-None-Match': etag } }),
      expect: { status: 304, headers: { etag } },
    },
    {
      name: 'an attachment by download=1',
      ...get(`/api/files${plain}?download=1`, {}),
      expect: { status: 200, headers: { 'content-disposition': is.matching(/^attachment/) } },
    },
    ...['0', 'false', ''].map((value) => ({
      name: `inline with download=${value}`,
      ...get(`/api/files${plain}?download=${value}`, {}),
      expect: { status: 200, headers: { 'content-disposition': is.matching(/^inline/) } },
    })),
    {
      name: 'an invalid download',
      ...get(`/api/files${plain}?download=yes`, {}),
      expect: { status: 400, json: { error: is.text, code: 'malformed_request', details: { download: is.text } } },
    },
    ...[[page, 'text/html; charset=utf-8'] as const, [picture, 'image/svg+xml'] as const].map(([path, type]) => ({
      name: `${type} is an attachment`,
      ...get(`/api/files${path}`, {}),
      expect: {
        status: 200,
        headers: { 'content-type': type, 'content-disposition': is.matching(/^attachment/) },
      },
    })),
    {
      name: 'a preview',
      ...get(`/api/files${image}?thumb=2x2`, {}),
      expect: { status: 200, headers: { 'content-type': 'image/png' } },
    },
    { name: 'an invalid size', ...get(`/api/files${image}?thumb=big`, {}), expect: { status: 400 } },
    {
      name: 'a size with 50,000 digits',
      ...get(`/api/files${image}?thumb=${'1'.repeat(50_000)}x1`, {}),
      expect: { status: 400 },
    },
    { name: 'the default size', ...get(`/api/files${image}?thumb=100x100`, {}), expect: { status: 200 } },
    ...['3x3', '2x2f', '02x2', '100x100t', '0x100'].map((size) => ({
      name: `the unlisted size ${size} [files §5.1]`,
      ...get(`/api/files${image}?thumb=${size}`, {}),
      expect: {
        status: 400,
        json: { error: 'thumb: must be 100x100 or 2x2', code: 'malformed_request', details: { thumb: is.text } },
      },
    })),
    {
      name: 'a size of an unknown file',
      ...get(`/api/files${image}x?thumb=3x3`, {}),
      expect: { status: 404 },
    },
    {
      name: 'a preview of a file that is not an image is the file',
      ...get(`/api/files${plain}?thumb=2x2`, {}),
      expect: { status: 200, headers: bytes(10) },
    },
    {
      name: 'a preview of a broken image is the file',
      ...get(`/api/files${broken}?thumb=2x2`, {}),
      expect: { status: 200, headers: bytes(40) },
    },
    ...[
      `/api/files${plain}x`,
      '/api/files/docs/unknown/a_0123456789.txt',
      '/api/files/nothing/x/y',
      `/api/files/docs/..%2f..%2f..%2fetc/passwd`,
      `/api/files${plain.replace(/[^/]+$/, '..%2F..%2Fjwt_secret')}`,
      `/api/files${image}.thumb-2x2`,
    ].map((path) => ({ name: path, ...get(path, {}), expect: { status: 404 } })),
  ]);
});

onEachTopology('many parallel downloads are complete', async (_, target) => {
  const admin = await target.admin();
  await admin.define('tapes', [fileField('tape', { protected: true }), fileField('open')]);
  const content = 'x'.repeat(300_000);
  const record = await upload(
    target.guest,
    '/api/v1/tapes',
    file('tape', 'a.txt', content),
    file('open', 'b.txt', content),
  );
  const session = await target.user();
  const token = textAt(await session.post('/api/v1/files/token', {}, 200), 'token');
  const closed = `/api/files/tapes/${record.id}/${record.tape}?token=${token}`;
  await eventuallyOnEveryReplica('the token is known', async () => (await target.guest.get(closed)).status === 200);
  for (let round = 0; round < 10; round += 1) {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        target.guest.get(index % 2 ? `/api/files/tapes/${record.id}/${record.open}` : closed),
      ),
    );
    assert.deepEqual(new Set(answers.map(({ status, text }) => `${status} ${text.length}`)), new Set(['200 300000']));
  }
  const warnings = target.logLines.filter((line) => /Warning/.test(line));
  assert.deepEqual(warnings, [], 'the process prints only its log');
});
