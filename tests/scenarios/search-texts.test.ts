import assert from 'node:assert/strict';
import { eventually } from '../harness/eventually.ts';
import { listAt, objectAt } from '../harness/json.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { untilReady } from './search-ready.ts';

onEachTopology('a search takes any text, and any text can be searched', async (t, target) => {
  const admin = await target.admin();
  const names = ['title', 'body', 'page'];
  const fields = names.map((name) => ({ name, type: name === 'page' ? 'editor' : 'text' }));
  await admin.post('/api/v1/collections', { name: 'places', type: 'base', fields, list_rule: null });
  const make = (title: string, more: object = {}) => admin.create('places', { title, ...more });
  await make('A long walk', { body: 'x b' });
  await admin.post('/api/v1/admin/collections/places/indexes', {
    name: 'words',
    type: 'search',
    fields: names.map((field) => ({ field })),
    language: 'english',
  });
  await untilReady(admin, 'places');
  // A replica may hear a moment later that the index is ready.
  await eventually('every replica searches', async () => (await admin.get('/api/v1/places?search=x')).status === 200);

  await t.test('no text is an error [search §2.2]', async () => {
    const hostile = [
      "'",
      '\\',
      "'\\''",
      ':*',
      'a:*',
      '!!',
      '&|!()<->',
      '((((',
      '"',
      '""',
      '-"',
      '-',
      '--x',
      'or',
      'or or',
      'or x or',
      '\u0000a',
      'a\u0001b',
      '\u0301\u0301',
      '\uFDFA'.repeat(100),
      '\u3316'.repeat(300),
      '𠮷'.repeat(300),
      '𝒳'.repeat(300),
      'a-'.repeat(150),
      '<b>',
      '%',
      '_',
      'x'.repeat(300),
      'http://a.b/c?d=e',
      'a@b.c',
      "o'neill",
      'ﬁ½ŉ',
      '😀',
      '1e400',
    ];
    for (const word of hostile) {
      const answers = [
        await target.guest.get(`/api/v1/places?search=${encodeURIComponent(word)}`),
        await target.guest.get(
          `/api/v1/places?searchMode=any&searchFields=body&search=${encodeURIComponent(`b ${word}`.slice(0, 300))}`,
        ),
      ];
      for (const { status, text: body } of answers)
        assert.ok([200, 400].includes(status), `${word}: ${status} ${body}`);
    }
  });

  await t.test('a highlight holds no HTML but its marks [search §5.1]', async () => {
    const hostile = '</mark><script>alert(1)</script> & "x" <img src=x onerror=y> owl &lt;b&gt; &#60;i&#62; <b owl <';
    await make(hostile, { body: hostile, page: hostile });
    const { json } = await target.guest.get('/api/v1/places?search=owl&highlight=title,body,page');
    const marked = objectAt(json, 'data.0._highlight');
    assert.deepEqual(Object.keys(marked), ['title', 'body', 'page']);
    for (const html of Object.values(marked)) {
      assert.match(String(html), /<mark>owl<\/mark>/);
      assert.doesNotMatch(String(html).replaceAll(/<\/?mark>/g, ''), /[<>]/);
      assert.equal(String(html).split('<mark>').length, String(html).split('</mark>').length);
    }
  });

  await t.test('a text of any length and of any words can be written and found [search §1.9]', async () => {
    const distinct = Array.from({ length: 400_000 }, (_, n) => n.toString(36)).join('-');
    const long = ['z'.repeat(5000), `start ${distinct}`.slice(0, 900_000), `${'漢字'.repeat(100_000)} start`];
    for (const body of long) {
      const record = await make('Long', { body });
      assert.equal(record.title, 'Long');
    }
    assert.equal(listAt((await target.guest.get('/api/v1/places?search=start')).json, 'data').length, 1);
  });
});
