import assert from 'node:assert/strict';
import { at, textAt } from '../harness/json.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

const boundary = '----recordbus';
const headers = { 'Content-Type': `multipart/form-data; boundary=${boundary}` };
const named = (name: string, more = '') => `Content-Disposition: form-data; name="${name}"${more}`;

/** A part as it is sent: its header lines and its content. */
type RawPart = readonly [lines: readonly string[], content: string | Uint8Array];

/** Returns a form body whose parts are written byte by byte. */
function rawForm(...parts: readonly RawPart[]): Buffer {
  const pieces = parts.flatMap(([lines, content]) => [
    // `ÿ` becomes the byte 0xff, which UTF-8 never has.
    Buffer.from([`--${boundary}`, ...lines, '', ''].join('\r\n'), 'latin1'),
    Buffer.from(content as string),
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
}

const broken = Buffer.from([0x61, 0xff]);

/** Parts that no form may have, with their refusal's message. Each is the form's second part. */
const parts: readonly (readonly [what: string, parts: readonly RawPart[], message: RegExp])[] = [
  ['without a Content-Disposition', [[['Content-Type: text/plain'], 'x']], /part 2 .* no Content-Disposition/],
  ['without headers', [[[], 'x']], /part 2 .* no Content-Disposition/],
  [
    'that is an attachment',
    [[['Content-Disposition: attachment; name="title"'], 'x']],
    /part 2 .* other than form-data/,
  ],
  ['without a name', [[['Content-Disposition: form-data'], 'x']], /part 2 .* no name/],
  ['that is a file without a name', [[['Content-Disposition: form-data; filename="a.txt"'], 'x']], /part 2 .* no name/],
  ['with a line that has no colon', [[[named('title'), 'X-Broken'], 'x']], /part 2 .* without a name and a colon/],
  ['with a header twice', [[[named('title'), named('more')], 'x']], /part 2 .* header twice/],
  ['whose name is not UTF-8', [[[named('tÿ')], 'x']], /part 2 .* not valid UTF-8/],
];

/** Further parts in a record's form. */
const recordParts: typeof parts = [
  ['whose file name is not UTF-8', [[[named('doc', '; filename="ÿ.txt"')], 'x']], /part 2 .* not valid UTF-8/],
  ['whose text is not UTF-8', [[[named('title')], broken]], /the part title is not valid UTF-8/],
  [
    'whose JSON is not UTF-8',
    [[[named('_json')], Buffer.concat([Buffer.from('{"title":"'), broken, Buffer.from('"}')])]],
    /the part _json is not valid UTF-8/,
  ],
  [
    'that repeats a text',
    [
      [[named('title')], 'x'],
      [[named('title')], 'x'],
    ],
    /the part title is in the form twice/,
  ],
  [
    'that repeats a number',
    [
      [[named('stars')], '1'],
      [[named('stars')], '2'],
    ],
    /the part stars is in the form twice/,
  ],
  [
    'that repeats a json',
    [
      [[named('meta')], '1'],
      [[named('meta')], '2'],
    ],
    /the part meta is in the form twice/,
  ],
  [
    'that repeats _json',
    [
      [[named('_json')], '{}'],
      [[named('_json')], '{}'],
    ],
    /the part _json is in the form twice/,
  ],
];

onEachTopology('a form has no part that would be dropped or misread', async (t, target) => {
  const admin = await target.admin();
  const { guest } = target;
  await admin.define('notes', [
    { name: 'title', type: 'text' },
    { name: 'stars', type: 'number' },
    { name: 'meta', type: 'json' },
    { name: 'tags', type: 'select', options: { values: ['a', 'b'], multiple: true } },
    { name: 'doc', type: 'file' },
  ]);
  const created = await guest.send('POST', '/api/v1/notes', { body: { title: 'first' } });
  const id = textAt(created.json, 'data.id');
  const writes = [
    ['POST', '/api/v1/notes', [[named('doc', '; filename="a.txt"')], 'x']],
    ['PATCH', `/api/v1/notes/${id}`, [[named('doc', '; filename="a.txt"')], 'x']],
    ['PUT', `/api/v1/notes/${id}`, [[named('doc', '; filename="a.txt"')], 'x']],
    [
      'POST',
      '/api/v1/batch',
      [[named('operations')], JSON.stringify({ operations: [{ op: 'create', collection: 'notes', data: {} }] })],
    ],
  ] as const;
  for (const [method, path, first] of writes)
    for (const [what, bad, message] of [...parts, ...(path.endsWith('batch') ? [] : recordParts)])
      await t.test(`400: ${method} ${path.replace(id, ':id')} with a part ${what} [files §3.1]`, async () => {
        const answer = await guest.send(method, path, { rawBody: rawForm(first, ...bad), headers });
        assert.equal(answer.status, 400, answer.text);
        assert.equal(at(answer.json, 'code'), 'malformed_request');
        assert.match(textAt(answer.json, 'error'), message);
      });

  await t.test('422: a second file for a single field [files §3.4]', async () => {
    const doc = [[named('doc', '; filename="a.txt"')], 'x'] as const;
    const answer = await guest.send('POST', '/api/v1/notes', { rawBody: rawForm(doc, doc), headers });
    assert.deepEqual([answer.status, at(answer.json, 'details')], [422, { doc: 'takes one file' }]);
  });

  await t.test('several parts are a list, and a charset is honoured [files §3.2]', async () => {
    const latin1 = [[named('title'), 'Content-Type: text/plain; charset=iso-8859-1'], Buffer.from([0xe4])] as const;
    const tags = ['a', 'b'].map((tag) => [[named('tags')], tag] as const);
    const answer = await guest.send('POST', '/api/v1/notes', { rawBody: rawForm(latin1, ...tags), headers });
    assert.equal(answer.status, 201, answer.text);
    assert.deepEqual([at(answer.json, 'data.title'), at(answer.json, 'data.tags')], ['ä', ['a', 'b']]);
  });

  await t.test('400: a form that is cut off [files §3.1]', async () => {
    const whole = rawForm([[named('title')], 'x']);
    for (const rawBody of [whole.subarray(0, -6), whole.subarray(0, 30), Buffer.alloc(0), Buffer.from('x')]) {
      const answer = await guest.send('POST', '/api/v1/notes', { rawBody, headers });
      assert.equal(answer.status, rawBody.length === 0 ? 201 : 400, answer.text);
    }
  });
});
