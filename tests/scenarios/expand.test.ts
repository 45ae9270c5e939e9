import { is } from '../harness/matching.ts';
import { type Caller, runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

const relation = (name: string, collection: string) => ({ name, type: 'relation', collection });
const text = (name: string) => ({ name, type: 'text' });

onEachTopology('expand shows related records', async (t, target) => {
  const admin = await target.admin();
  await admin.define('firms', [text('name')], { view_rule: 'name != "hidden"' });
  await admin.define('safes', [text('name')], { view_rule: '' });
  await admin.define('staff', [
    text('name'),
    relation('firm', 'firms'),
    relation('safe', 'safes'),
    relation('boss', 'staff'),
  ]);
  await admin.define('papers', [text('title'), relation('author', 'staff')]);
  const core = await admin.create('firms', { name: 'core' });
  const hidden = await admin.create('firms', { name: 'hidden' });
  const safe = await admin.create('safes', { name: 'safe' });
  const ada = await admin.create('staff', { name: 'Ada', firm: core.id, safe: safe.id });
  const zoe = await admin.create('staff', { name: 'Zoe', firm: hidden.id });
  const adaNow = await admin.patch(`/api/v1/staff/${ada.id}`, { boss: ada.id });
  const first = await admin.create('papers', { title: 'first', author: ada.id });
  const second = await admin.create('papers', { title: 'second', author: zoe.id });
  const third = await admin.create('papers', { title: 'third' });

  const shows = (name: string, request: string, data: unknown, as: Caller = 'guest'): Scenario => ({
    name,
    as,
    request: `GET /api/v1/${request}`,
    expect: { status: 200, json: Array.isArray(data) ? is.containing({ data }) : { data } },
    spec: 'records §10.2',
  });
  const malformed = (name: string, request: string): Scenario => ({
    name,
    request: `GET /api/v1/${request}`,
    expect: { status: 400, json: is.containing({ error: is.text, code: is.code }) },
    spec: 'records §10.1',
  });
  const path = (count: number) => Array.from({ length: count }, () => 'boss').join('.');

  await runScenarios(t, target, [
    shows('a record with its target', `papers/${first.id}?expand=author`, { ...first, expand: { author: adaNow } }),
    shows('a list with its targets', 'papers?sort=title&expand=author', [
      { ...first, expand: { author: adaNow } },
      { ...second, expand: { author: zoe } },
      { ...third, expand: {} },
    ]),
    shows('several nested targets', `papers/${first.id}?expand=author.firm,author.boss`, {
      ...first,
      expand: { author: { ...adaNow, expand: { firm: core, boss: adaNow } } },
    }),
    shows('a record without the target that the view rule refuses', `papers/${second.id}?expand=author.firm`, {
      ...second,
      expand: { author: { ...zoe, expand: {} } },
    }),
    shows(
      'the same target for an admin',
      `papers/${second.id}?expand=author.firm`,
      {
        ...second,
        expand: { author: { ...zoe, expand: { firm: hidden } } },
      },
      'admin',
    ),
    shows(
      'a record without a target that is for admins only',
      `staff/${ada.id}?expand=safe`,
      { ...adaNow, expand: {} },
      'user',
    ),
    shows('the same target for an admin', `staff/${ada.id}?expand=safe`, { ...adaNow, expand: { safe } }, 'admin'),
    shows('fields with a path into expand', `papers/${first.id}?expand=author.firm&fields=title,expand.author.name`, {
      id: first.id,
      title: 'first',
      expand: { author: { id: ada.id, name: 'Ada' } },
    }),
    shows('fields without expand', `papers/${first.id}?expand=author&fields=title,nope`, {
      id: first.id,
      title: 'first',
    }),
    shows('six relations deep', `staff/${ada.id}?fields=expand.boss.id&expand=${path(6)}`, {
      id: ada.id,
      expand: { boss: { id: ada.id } },
    }),
    malformed('seven relations deep', `staff/${ada.id}?expand=${path(7)}`),
    malformed('a field that is not a relation', `papers/${first.id}?expand=title`),
    malformed('an unknown path', 'papers?expand=author.nope'),
    malformed('an unknown path of an unknown record', 'papers/nope?expand=nope'),
    {
      name: 'a record with its targets and its ETag',
      request: `GET /api/v1/papers/${first.id}?expand=author`,
      expect: { status: 200, headers: { etag: `W/"${first.updated}"` } },
      spec: 'records §9.3',
    },
    {
      name: 'If-None-Match with expand, which does not apply',
      request: `GET /api/v1/papers/${first.id}?expand=author`,
      headers: { 'If-None-Match': `W/"${first.updated}"` },
      expect: { status: 200 },
      spec: 'records §9.3',
    },
  ]);
});
