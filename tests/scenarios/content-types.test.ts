import assert from 'node:assert/strict';
import { file, multipart } from '../harness/clients/multipart.ts';
import { at, listAt, objectAt, textAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onOneProcess } from '../harness/stacks/target.ts';
import { fileField, png, upload } from './file-forms.ts';

const page = '<!doctype html><script>alert(1)</script>';
const rss = '<?xml version="1.0"?><rss><channel><title>x</title><p>y</p></channel></rss>';
const latin = Buffer.from('Straße;Größe\r\nZürich;1\r\n', 'latin1');
const aac = Buffer.from('fff150802e7ffc0000', 'hex');

onOneProcess("a file's types are those that its content has", async (t, target) => {
  const admin = await target.admin();
  let count = 0;
  const rows: Scenario[] = [];
  const check = async (mimeTypes: readonly string[], name: string, content: string | Buffer, refuses?: string) => {
    count += 1;
    await admin.define(`things_${count}`, [fileField('doc', { mimeTypes })]);
    rows.push({
      name: `${name}, ${JSON.stringify(content.toString('latin1').slice(0, 30))}, for ${mimeTypes}`,
      request: `POST /api/v1/things_${count}`,
      ...multipart(file('doc', name, content)),
      expect:
        refuses === undefined
          ? { status: 201 }
          : { status: 422, json: is.containing({ details: { doc: is.matching(new RegExp(`not ${refuses}$`)) } }) },
      events: refuses === undefined ? [`things_${count}.create`] : [],
      spec: 'files §2.2',
    });
  };
  await check(['text/csv'], 'a.csv', 'a,b\n<b>x</b>,<script>alert(1)</script>\n');
  await check(['text/csv'], 'a.csv', latin);
  await check(['text/csv'], 'a.csv', 'BMW,MZ\n1,2\n');
  await check(['text/csv'], 'a.csv', page, 'text/html');
  await check(['text/csv'], 'a.csv', png, 'image/png');
  await check(['text/plain'], 'a.txt', latin);
  await check(['text/plain'], 'a.txt', 'use <a href="x">');
  await check(
    ['text/markdown'],
    'a.md',
    '<div align=center><img src=x></div>\n# x\n<details><script>1</script></details>',
  );
  await check(['text/markdown'], 'a.md', page, 'text/html');
  await check(['application/json'], 'a.json', '{"html":"<p>x</p>"}');
  await check(['application/xml'], 'a.xml', '<?xml version="1.0"?><a><table/></a>');
  await check(['text/xml'], 'a.xml', '<?xml version="1.0"?><a><p>x</p></a>');
  await check(['application/xml'], 'a.rss', rss);
  await check(['text/xml'], 'feed.xml', rss);
  await check(['application/rss+xml'], 'feed.xml', rss);
  await check(['text/xml'], 'a.svg', '<svg xmlns="x"/>', 'image/svg\\+xml');
  await check(['text/css'], 'a.css', 'a { color: red }');
  await check(['text/javascript'], 'a.js', 'alert(1)');
  await check(['application/javascript'], 'a.js', 'alert(1)');
  await check(['text/plain'], 'a.js', 'alert(1)');
  await check(['text/javascript'], 'a.txt', 'alert(1)', 'text/plain');
  await check(['audio/aac'], 'a.aac', aac);
  await check(['audio/*'], 'a.bin', aac);
  await runScenarios(t, target, rows);
});

onOneProcess('a file is served so that it can do no harm', async (t, target) => {
  const admin = await target.admin();
  await admin.define('docs', [fileField('doc')]);
  const rows: Scenario[] = [];
  const serves = async (name: string, content: string | Buffer, type: string, isInline: boolean): Promise<void> => {
    const record = await upload(admin, '/api/v1/docs', file('doc', name, content));
    rows.push({
      name: `${name}, ${JSON.stringify(content.toString('latin1').slice(0, 30))}, as ${type}`,
      request: `GET /api/files/docs/${textAt(record, 'id')}/${textAt(record, 'doc')}`,
      expect: {
        status: 200,
        headers: {
          'content-type': type,
          'content-disposition': is.matching(isInline ? /^inline/ : /^attachment/),
          'x-content-type-options': 'nosniff',
        },
      },
      spec: 'files §4.5',
    });
  };
  await serves('a.csv', 'a,b\n', 'text/csv; charset=utf-8', true);
  await serves('a.csv', 'a,<script>alert(1)</script>\n', 'text/csv; charset=utf-8', false);
  await serves('a.csv', page, 'text/html; charset=utf-8', false);
  await serves('a.csv', latin, 'text/csv; charset=windows-1252', true);
  await serves('a.md', '# x <img src=x>', 'text/markdown; charset=utf-8', false);
  await serves('a.js', 'alert(1)', 'text/plain; charset=utf-8', true);
  await serves('a.css', 'a { }', 'text/plain; charset=utf-8', true);
  await serves('a.rss', rss, 'application/rss+xml', false);
  await serves('a.xml', '<?xml version="1.0"?><a/>', 'text/xml; charset=utf-8', false);
  await serves('a.xml', '<?xml version="1.0"?><html/>', 'application/xhtml+xml', false);
  await serves('a.svg', '<svg/>', 'image/svg+xml', false);
  await serves('a.aac', aac, 'audio/aac', true);
  await serves('a.png', png, 'image/png', true);
  await runScenarios(t, target, rows);
});

onOneProcess('a content type that no file has is a warning', async (t, target) => {
  const admin = await target.admin();
  const warnings = is.containing({ warnings: [is.matching(/doc lists image\/pngg in mimeTypes/)] });
  const none = is.containing({ warnings: undefined });
  const fields = (...mimeTypes: readonly string[]) => [fileField('doc', { mimeTypes })];
  const rules = { create_rule: '', update_rule: '', delete_rule: '' };
  const row = (name: string, request: string, body: object, status: number, json: unknown): Scenario => ({
    name,
    as: 'admin',
    request,
    body,
    expect: { status, json },
    spec: 'fields §3.15',
  });
  const possible = ['image/*', 'application/xml', 'image/jpg', 'application/epub+zip', '*/*', 'text/css'];
  await runScenarios(t, target, [
    row(
      'in a create',
      'POST /api/v1/collections',
      { name: 'warned', type: 'base', fields: fields('image/pngg', 'image/png'), ...rules },
      201,
      warnings,
    ),
    row('in a change of something else', 'PATCH /api/v1/collections/warned', { list_rule: '' }, 200, warnings),
    row(
      'none in a change to possible types',
      'PATCH /api/v1/collections/warned',
      { fields: fields(...possible) },
      200,
      none,
    ),
    row(
      'in a field',
      'PATCH /api/v1/collections/warned/fields/doc',
      { options: { mimeTypes: ['image/pngg'] } },
      200,
      warnings,
    ),
    row(
      'and no type at all is 422',
      'PATCH /api/v1/collections/warned',
      { fields: fields('png') },
      422,
      refused.invalid('fields.doc.options.mimeTypes.0').json,
    ),
  ]);
  await t.test('and in a plan [fields §3.15]', async () => {
    const known = objectAt((await admin.get('/api/v1/admin/schema')).json, 'data');
    const collections = [...listAt(known, 'collections'), { name: 'planned', fields: fields('image/pngg') }];
    const body = { schema: { ...known, collections } };
    const plan = await admin.send('POST', '/api/v1/admin/schema/plan', { body });
    assert.equal(plan.status, 200, plan.text);
    assert.match(JSON.stringify(at(plan.json, 'data.warnings')), /doc lists image\/pngg in mimeTypes/);
  });
});
