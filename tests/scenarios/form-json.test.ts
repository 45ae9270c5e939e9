import { multipart, type Part } from '../harness/clients/multipart.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

onEachTopology("the JSON in a form has a JSON body's limits", async (t, target) => {
  const admin = await target.admin();
  await admin.define('shapes', [
    { name: 'meta', type: 'json' },
    { name: 'more', type: 'json' },
    { name: 'place', type: 'geoPoint' },
    { name: 'spot', type: 'vector', options: { dimensions: 2 } },
    { name: 'tags', type: 'select', options: { values: ['a', 'b'], multiple: true } },
  ]);
  const deep = `[${'{"a":['.repeat(500)}1${']}'.repeat(500)}]`;
  // Four exceed a body's member limit; two have less than 100 kB.
  const members = (prefix: string) =>
    JSON.stringify(Object.fromEntries(Array.from({ length: 6000 }, (_, index) => [`${prefix}${index}`, 1])));
  const meta = { name: 'meta', content: members('a') };
  const shape = (name: string, parts: readonly Part[], expect: Scenario['expect']): Scenario => ({
    name,
    spec: 'files §3.5',
    request: 'POST /api/v1/shapes',
    ...multipart(...parts),
    expect,
  });
  await runScenarios(t, target, [
    shape('_json that nests too deeply', [{ name: '_json', content: `{"meta":${deep}}` }], refused.malformed),
    ...['meta', 'place', 'spot', 'tags'].map((name) =>
      shape(`${name} that nests too deeply`, [{ name, content: deep }], refused.malformed),
    ),
    shape(
      'too many different members in all parts together',
      [
        { name: '_json', content: `{"more":${members('a')}}` },
        { name: 'meta', content: members('b') },
        { name: 'place', content: members('c') },
        { name: 'tags', content: `[${members('d')}]` },
      ],
      refused.malformed,
    ),
    {
      ...shape(
        'the same members in several parts',
        [{ name: '_json', content: `{"more":[${Array(4).fill(members('a'))}]}` }, meta],
        { status: 201 },
      ),
      events: ['shapes.create'],
    },
  ]);
});
